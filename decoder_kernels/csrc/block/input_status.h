// Why the input of a lane was refused; its slot is then left as it was.
#pragma once

#include <cstdint>

namespace earshot {

enum InputStatus : std::int32_t {
  INPUT_OK = 0,
  INPUT_NAN_OR_INFINITY = 1,  // NaN or plus infinity among the log-probabilities
  INPUT_DEAD_FRAME = 2,       // a frame without any finite log-probability
};

}  // namespace earshot
