// How well labels fit what CTC heard (Graves 2006, section 4.1, by its best path).
#pragma once

#include <cstdint>

namespace earshot {

// log_probs (T, V), labels (L,). Writes for each number of labels, from none to all (L + 1,), the
// log-probability of the best path over all frames that spells so many of them; minus infinity
// where there are too few frames.
void score_prefixes(const float* log_probs, int frames, int units, const std::int64_t* labels,
                    int count, std::int64_t blank, float* scores);

}  // namespace earshot
