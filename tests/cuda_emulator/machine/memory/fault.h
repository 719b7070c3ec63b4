// What the emulated device has found wrong, and what it has been told to fail at.
//
// As on a GPU, a fault in a kernel leaves the device of no more use: every later call fails with
// the same error, until a test lets it recover.
#pragma once

#include <string>

#include "thread.h"

extern "C" {
// All that is asked of the device fails from now on, or no more.
void emulator_break(const char* why);
void emulator_recover();
// Whether whoever asks for memory now is to be refused: a stream captures.
bool emulator_refuses_allocation();
}

namespace emulator {

// Why the device is of no more use; empty while it is.
std::string sticky_error();
void break_device(const std::string& why);
void recover();

// Told to fail once at the call after the next `skipped` ones.
class Injection {
 public:
  void arm(u64 skipped) { left_ = skipped + 1; }
  void disarm() { left_ = 0; }
  // Whether this call is the one.
  bool strikes() { return left_ > 0 && --left_ == 0; }

 private:
  u64 left_ = 0;
};

// Whether memory may not be allocated now, as a stream captures.
extern bool (*refuses_allocation)();

extern Injection launch_injection;
extern Injection allocation_injection;

}  // namespace emulator
