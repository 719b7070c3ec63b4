// One kernel source, three targets: this file and those it includes are all that know the compiler.
//
// A kernel is a functor `void operator()(const Block&, const Params&) const`. Its work is written
// as loops `for (int i = block.thread; i < n; i += block.threads)`, with `block.sync()` between a
// write and another thread's read. No result may depend on `block.threads` or on the order of
// atomics.
//
// CUDA:  one thread block runs the kernel for one `index`; scratch is dynamic shared memory.
// CPU:   a block has one thread, which the compiler knows, and `workers` threads share the blocks.
// Teams: a block of real CPU threads that meet at a barrier: too slow to serve with, and made for
//        tests and ThreadSanitizer, which then find a missing sync() without a GPU.
#pragma once

#if defined(__CUDACC__)
#include "block/block_cuda.h"
#elif defined(EARSHOT_TEAMS)
#include "block/block_team.h"
#else
#include "block/block_solo.h"
#endif
