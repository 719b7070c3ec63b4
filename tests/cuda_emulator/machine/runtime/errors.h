// What the calls of the CUDA runtime return: codes, words, and failures that tests ask for.
#pragma once

#include <driver_types.h>

#include <mutex>
#include <string>

namespace emulator {

// Keeps the error for cudaGetLastError, with more words than the code has.
cudaError_t fail(cudaError_t error, const std::string& text);
// With the code's own words.
cudaError_t fail(cudaError_t error);

// Stands at the head of every call, by its name. One call runs at a time.
class Call {
 public:
  explicit Call(const char* name);
  // The failure that it was told of, or that of a device which is of no more use; else success.
  const cudaError_t error;

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// Lets the call of that name fail once, after so many that do not.
void fail_call(const char* name, cudaError_t error, unsigned long long skipped);
// And the error that cudaGetLastError would return to this thread.
void forget_failures();

}  // namespace emulator
