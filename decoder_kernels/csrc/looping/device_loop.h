// A loop over labels or frames on a GPU, three ways. All raise LaunchFailed for what the device
// refuses.
#pragma once

#include <cstdint>
#include <memory>

#include "looping/loop_params.h"

namespace earshot::cuda {

// BY_LABELS: Bataev 2024, Algorithm 3. BY_FRAMES: Algorithm 1 there and in Galvez 2024. FREE: the
// former without lock step.
enum class LoopOrder { BY_LABELS, BY_FRAMES, FREE };

struct LoopWork {
  LoopOrder order;
  int threads;  // of a block, 256 at most
  LoopParams params;
};

// Step by step; the host reads after each turn whether there is another.
void run_by_launches(const LoopWork& work, std::intptr_t stream);

// As one kernel, of as many blocks as the device holds at once or the work has parts.
void run_as_one_kernel(const LoopWork& work, std::intptr_t stream);

// As one graph with a WHILE node in a WHILE node (Galvez 2024, section 3), for this many lanes.
class LoopGraph {
 public:
  explicit LoopGraph(const LoopWork& work);
  ~LoopGraph();
  LoopGraph(LoopGraph&&) noexcept;

  void run(std::intptr_t stream) const;

 private:
  struct Executable;
  std::unique_ptr<Executable> executable_;
};

}  // namespace earshot::cuda
