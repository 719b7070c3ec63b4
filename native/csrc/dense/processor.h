// Functions after this are for the kind of processor that the library is built for. What comes of
// the standard library's templates, which this includes before, is not: the linker keeps one of
// each, and that has to run on all kinds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "dense/layer_weights.h"
#include "threads/shares.h"

#if defined(EARSHOT_AVX512_BF16)
#include <immintrin.h>
#define EARSHOT_AVX512
#pragma GCC target("avx512bf16,avx512vnni")
#endif
#if defined(EARSHOT_AVX512)
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#elif defined(EARSHOT_AVX2)
#pragma GCC target("avx2,fma")
#endif
