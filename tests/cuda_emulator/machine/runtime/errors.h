// What the calls of the CUDA runtime return: codes, words, and failures that tests ask for.
#pragma once

#include <driver_types.h>

#include <string>

namespace emulator {

// Keeps the error for cudaGetLastError, with more words than the code has.
cudaError_t fail(cudaError_t error, const std::string& text);
// With the code's own words.
cudaError_t fail(cudaError_t error);

// What comes before anything that a call does: the failure that it was told of, or that of a
// device which is of no more use; else success. Each call asks, by its own name.
cudaError_t begin_call(const char* name);

// Lets the call of that name fail once, after so many that do not.
void fail_call(const char* name, cudaError_t error, unsigned long long skipped);
// And the error that cudaGetLastError would return to this thread.
void forget_failures();

}  // namespace emulator
