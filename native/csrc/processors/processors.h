// The kinds of processor that code was compiled for, and which of them this one is.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace earshot {

// What this processor can run, the fastest first.
inline std::vector<std::string> processors() {
  std::vector<std::string> found;
#ifdef EARSHOT_X86
  // By feature: g++ knows the names of levels (x86-64-v4) from its version 12 on.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const bool few_bits =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
  if (avx2 && avx512 && few_bits) found.emplace_back("avx512_bf16");
  if (avx2 && avx512) found.emplace_back("avx512");
  if (avx2) found.emplace_back("avx2");
#endif
  found.emplace_back("portable");
  return found;
}

// Whether bfloat16 is multiplied at a higher rate than float32. Intel's processors have the
// instruction in half as many units as a fused multiply-add, so that it does as much in a cycle.
inline bool multiplies_bfloat16_faster() {
#ifdef EARSHOT_X86
  return processors().front() == "avx512_bf16" && __builtin_cpu_is("amd");
#else
  return false;
#endif
}

// Throws std::invalid_argument for a kind that this processor is not.
inline void require_processor(const std::string& kind) {
  const std::vector<std::string> found = processors();
  if (std::find(found.begin(), found.end(), kind) != found.end()) return;
  throw std::invalid_argument("this processor cannot run " + kind);
}

}  // namespace earshot
