// What a joint network does to the sum of a frame and of what was said.
#pragma once

namespace earshot {

enum class JointActivation { RELU, SIGMOID, TANH };

}  // namespace earshot
