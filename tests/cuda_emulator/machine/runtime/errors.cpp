#include "errors.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

#include "fault.h"

namespace emulator {

namespace {

struct Failure {
  cudaError_t error;
  Injection injection;
};

struct Words {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define WORDS(error, text) \
  Words {                  \
    error, #error, text    \
  }
const Words WORDS_OF[] = {
    WORDS(cudaSuccess, "no error"),
    WORDS(cudaErrorInvalidValue, "invalid argument"),
    WORDS(cudaErrorMemoryAllocation, "out of memory"),
    WORDS(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    WORDS(cudaErrorInvalidDeviceFunction, "invalid device function"),
    WORDS(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    WORDS(cudaErrorInvalidDevice, "invalid device ordinal"),
    WORDS(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    WORDS(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    WORDS(cudaErrorLaunchFailure, "unspecified launch failure"),
    WORDS(cudaErrorHostMemoryAlreadyRegistered,
          "part or all of the requested memory range is already mapped"),
    WORDS(cudaErrorHostMemoryNotRegistered,
          "pointer does not correspond to a registered memory region"),
    WORDS(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    WORDS(cudaErrorNotSupported, "operation not supported"),
    WORDS(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    WORDS(cudaErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    WORDS(cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"),
    WORDS(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    WORDS(cudaErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
};

std::recursive_mutex one_call;
std::mutex failures_mutex;
thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaError_t told_error = cudaSuccess;  // that the words are of
thread_local std::string told_text;

std::map<std::string, Failure>& failures() {
  static std::map<std::string, Failure> only;
  return only;
}

cudaError_t error_of(const char* call) {
  if (const std::string why = sticky_error(); !why.empty()) {
    return fail(cudaErrorLaunchFailure, why);
  }
  const std::lock_guard guard(failures_mutex);
  const auto found = failures().find(call);
  if (found == failures().end() || !found->second.injection.strikes()) return cudaSuccess;
  return fail(found->second.error, std::string(call) + ", told to fail");
}

const Words& words_of(cudaError_t error) {
  static const Words unknown{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const Words& each : WORDS_OF) {
    if (each.error == error) return each;
  }
  return unknown;
}

}  // namespace

cudaError_t fail(cudaError_t error, const std::string& text) {
  last_error = told_error = error;
  told_text = text;
  return error;
}

cudaError_t fail(cudaError_t error) {
  return fail(error, words_of(error).text);
}

Call::Call(const char* name) : error(error_of(name)), guard_(one_call) {}

void fail_call(const char* name, cudaError_t error, unsigned long long skipped) {
  const std::lock_guard guard(failures_mutex);
  Failure& failure = failures()[name];
  failure.error = error;
  failure.injection.arm(skipped);
}

void forget_failures() {
  const std::lock_guard guard(failures_mutex);
  failures().clear();
  last_error = cudaSuccess;
}

}  // namespace emulator

using namespace emulator;

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  return last_error;
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == told_error ? told_text.c_str() : words_of(error).text;
}

const char* cudaGetErrorName(cudaError_t error) {
  return words_of(error).name;
}
}
