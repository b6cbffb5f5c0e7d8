// How fast this machine is: products, pointwise work and copies, measured at a few sizes once and kept in the user's
// cache folder.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../core/clock.hpp"
#include "../device/cuda/kernel_cache.hpp"
#include "../io/file.hpp"
#include "../ops/arithmetic.hpp"
#include "../ops/matmul.hpp"
#include "../ops/support/grad_ops.hpp"
#include "../ops/transfer.hpp"
#include "../tensor/creation.hpp"
#include "curve.hpp"

namespace tern::inline TERN_BUILD::profile {

/// The CPU with all threads and the current CUDA device, in float.
struct Machine {
  std::string cpu, cuda;                    // names
  std::string why_not;                      // why there is no GPU; empty if there is one
  Curve cpu_matmul, cuda_matmul;            // seconds of a square product, by its operations
  Curve cpu_elementwise, cuda_elementwise;  // of a + b, by their elements
  Curve copies[2][2];                       // [to the host][pinned], by bytes
};

/// Seconds that a piece of work takes.
struct Times {
  double cpu = 0;
  double cuda = 0;    // with its operands there, and its result left there
  double copied = 0;  // with its operands copied there from pageable memory, and its result back
};

/// Sizes to measure at: each is the one before times the factor.
struct Sizes {
  double first, factor, last;
};
/// How much to measure.
struct Effort {
  Sizes matmul{32, 2, 4096}, elementwise{1 << 10, 8, 1 << 25}, copies{1 << 10, 8, 1 << 28};
  double longest = 0.2;  // seconds for one size: where one took longer, no larger one is tried
};

namespace measuring {

/// An event that has a time.
struct TimedEvent {
  cuda::Event event = nullptr;
  TimedEvent() { TERN_CUDA(cuEventCreate, &event, 0); }
  ~TimedEvent() { cuda::driver().functions.cuEventDestroy_v2(event); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
};

/// Seconds of `times` runs of f: the device's, from before the first one's work until after the last one's, or the
/// host's.
TERN_API double seconds_of(bool on_device, void (*run)(const void* f, int times), const void* f, int times);

/// The same for one run, the least of several tries: at least four, and as many as fit into 50 ms. The first, which
/// compiles kernels, does not count.
TERN_API double least_seconds(bool on_device, void (*run)(const void* f, int times), const void* f);
template <class F>
double least_seconds(bool on_device, const F& f) {
  return least_seconds(
      on_device,
      [](const void* g, int times) {
        for (int i = 0; i < times; ++i) (*static_cast<const F*>(g))();
      },
      &f);
}

enum Part : int { on_cpu = 1, on_cuda = 2, with_copies = 4 };

TERN_API Times time_matmul(Index m, Index n, Index k, int parts);

TERN_API Times time_sum(Index n, int parts);

/// Seconds of a copy of so many bytes.
TERN_API double time_copy(Index bytes, bool to_host, bool pinned);

/// `seconds` at each size; x of a size: what the curve goes by. A size that took longer than a larger one was
/// disturbed, and gets the larger one's.
template <class X, class Seconds>
Curve measured_curve(const Sizes& sizes, double longest, const X& x, const Seconds& seconds) {
  Curve curve;
  for (double size = sizes.first; size <= sizes.last; size *= sizes.factor) {
    const double start = now();
    curve.points.push_back({x(size), seconds(Index(size))});
    if (now() - start > longest) break;
  }
  for (std::size_t i = curve.points.size() - 1; i > 0; --i)
    if (curve.points[i - 1].seconds > curve.points[i].seconds) curve.points[i - 1].seconds = curve.points[i].seconds;
  return curve;
}

}  // namespace measuring

/// Measures the CPU, and the GPU if there is one.
TERN_API void measure(Machine& machine, const Effort& effort = {});

namespace measuring {

/// The CPU's name for itself.
TERN_API std::string cpu_name();

/// All curves of a machine in the order of its file.
TERN_API std::vector<Curve*> curves_of(Machine& machine);

/// Each curve on a line: the number of its points, then sizes and seconds.
TERN_API std::string curves_text(Machine& machine);

/// False where the text is not a machine's.
TERN_API bool read_curves(Machine& machine, const char* text);

}  // namespace measuring

/// This machine's curves: measured if they never were on this processor, with as many threads, this card and driver, or
/// if `remeasure`. They are kept in tern/ of the user's cache folder (XDG_CACHE_HOME, else ~/.cache); where there is
/// none, the next call measures again.
TERN_API Machine machine(bool remeasure = false, const Effort& effort = {}, Here here = {});

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "machine.ipp"
#endif
