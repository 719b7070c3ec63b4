#include "fault.h"

#include <mutex>

namespace emulator {

bool (*refuses_allocation)() = [] { return false; };
Injection launch_injection;
Injection allocation_injection;

namespace {
std::mutex mutex;
std::string& why_broken = *new std::string;  // asked for at exit, too
}  // namespace

std::string sticky_error() {
  const std::lock_guard guard(mutex);
  return why_broken;
}

void break_device(const std::string& why) {
  const std::lock_guard guard(mutex);
  if (why_broken.empty()) why_broken = why;
}

void recover() {
  const std::lock_guard guard(mutex);
  why_broken.clear();
  launch_injection.disarm();
  allocation_injection.disarm();
}

}  // namespace emulator

void emulator_break(const char* why) {
  emulator::break_device(why);
}
void emulator_recover() {
  emulator::recover();
}
bool emulator_refuses_allocation() {
  return emulator::refuses_allocation();
}
