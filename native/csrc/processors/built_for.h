// Networks for a kind of processor by name. Behind the headers that declare what is built: their
// `build` must be known here.
#pragma once

#include <string>

#include "processors/processors.h"

namespace earshot {

// What one of the processors runs; throws std::invalid_argument for one that this one is not.
template <class Weights>
auto built_for(const std::string& processor, const Weights& weights) {
  require_processor(processor);
#ifdef EARSHOT_X86
  if (processor == "avx512_bf16") return avx512_bf16::build(weights);
  if (processor == "avx512") return avx512::build(weights);
  if (processor == "avx2") return avx2::build(weights);
#endif
  return portable::build(weights);
}

}  // namespace earshot
