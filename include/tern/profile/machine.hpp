// The speed of this machine: matrix products, elementwise work and copies. They are measured once, at a few sizes, and
// stored in the user's cache folder.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../backend/cuda/kernels.hpp"
#include "../core/clock.hpp"
#include "../device/cuda/kernel_cache.hpp"
#include "../device/cuda/traits.hpp"
#include "../io/file.hpp"
#include "../autograd/backward.hpp"
#include "../ops/arithmetic.hpp"
#include "../ops/convolution.hpp"
#include "../ops/matmul.hpp"
#include "../ops/support/grad_ops.hpp"
#include "../ops/transfer.hpp"
#include "../tensor/creation.hpp"
#include "curve.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

/// The CPU with all threads and the current CUDA device, with float elements.
struct Machine {
  std::string cpu, cuda;  // names
  std::string why_not;    // why there is no GPU; empty if there is one
  Curve cpu_matmul{{}, 8},
      cuda_matmul{{}, 8};                   // seconds of a square product, by its operations: to twice the largest n
  Curve cpu_elementwise, cuda_elementwise;  // seconds of a + b, by its elements
  Curve cpu_convolution, cuda_convolution;  // seconds of a convolution or one of its gradients, by operations: the mean
                                            // over 3 x 3 filters of 16, 32 and 64 channels
  double queueing[3] = {not_measured, not_measured,
                        not_measured};  // seconds of the host for a kernel of a training step, by Effort
  Curve copies[2][2];                   // seconds, [to the host][pinned], by bytes
};

/// The seconds of a piece of work; not_measured beyond what the curves reach.
struct Times {
  double cpu = 0;
  double cuda = 0;    // with its operands on the device, where its result stays
  double copied = 0;  // including copies of its operands from pageable memory, and of its result back
};

/// The sizes to measure at: `first` times 1, 1.5, 2, 3, 4, 6, … up to `last`. `first` is even.
struct Sizes {
  Index first, last;
};
/// The sizes and the time limit of the measurements.
struct MeasureOptions {
  Sizes matmul{40, 3840};  // no powers of two, for which products are faster than for other sizes
  Sizes elementwise{1 << 10, 1 << 25}, copies{1 << 10, 1 << 28};
  Sizes convolution{2, 512};  // images
  double longest = 0.5;  // seconds for all repetitions of one size, once it is warm; after a longer measurement, only
                         // the fewest points of a curve are completed
};

namespace measuring {

/// An event that records its time.
struct TimedEvent {
  cuda::Event event = nullptr;
  TimedEvent() { TERN_CUDA(cuEventCreate, &event, 0); }
  ~TimedEvent() { cuda::driver().functions.cuEventDestroy_v2(event); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
};

/// The seconds of `times` runs of f: the device's, from before the first run's work until after the last one's, or the
/// host's.
TERN_API double seconds_of(bool on_device, void (*run)(const void* f, int times), const void* f, int times);

/// The seconds of one run, and the host's seconds that it took to find out.
struct Measurement {
  double seconds, spent;
};

/// Of one run, the minimum of several tries: at least four, two of what takes 50 ms, and as many as fit into 50 ms of
/// the host's clock. Before them it is run once, to its end: that opens libraries and compiles kernels, and counts
/// neither as work nor as spent.
TERN_API Measurement measure_warm(bool on_device, void (*run)(const void* f, int times), const void* f);
template <class F>
Measurement measure_warm(bool on_device, const F& f) {
  return measure_warm(
      on_device,
      [](const void* g, int times) {
        for (int i = 0; i < times; ++i) (*static_cast<const F*>(g))();
      },
      &f);
}
template <class F>
double least_seconds(bool on_device, const F& f) {
  return measure_warm(on_device, f).seconds;
}

/// The host's seconds for queueing a product, a convolution and another kernel, with their gradients, of small tensors.
TERN_API void time_queueing(double (&seconds)[3]);

enum MeasuredOn : int { on_cpu = 1, on_cuda = 2, with_copies = 4 };

TERN_API Times time_matmul(Index m, Index n, Index k, int parts);

TERN_API Times time_sum(Index n, int parts);

/// Measures, at each size, what make(size) returns. x(size) is the curve's argument. A size that took longer than a
/// larger one was disturbed, and gets the larger one's time.
template <class X, class Make>
void measure_curve(Curve& curve, const Sizes& sizes, double longest, bool on_device, const X& x, const Make& make) {
  curve.points.clear();
  for (int i = 0;; ++i) {
    const Index size = (sizes.first << i / 2) * (2 + i % 2) / 2;
    if (size > sizes.last) break;
    const Measurement measurement = measure_warm(on_device, make(size));
    curve.points.push_back({x(double(size)), measurement.seconds});
    if (curve.points.size() >= Curve::fewest && measurement.spent > longest) break;
  }
  for (std::size_t i = curve.points.size() - 1; i > 0; --i)
    if (curve.points[i - 1].seconds > curve.points[i].seconds) curve.points[i - 1].seconds = curve.points[i].seconds;
}

}  // namespace measuring

/// Measures the CPU, and the GPU if there is one.
TERN_API void measure(Machine& machine, const MeasureOptions& options = {});

namespace measuring {

/// The CPU's own name.
TERN_API std::string cpu_name();

/// All curves of a machine, in the order of its file.
TERN_API std::vector<Curve*> curves_of(Machine& machine);

/// One line for each curve: the number of its points, then sizes and seconds.
TERN_API std::string curves_text(Machine& machine);

/// False if the text does not hold a machine's curves.
TERN_API bool read_curves(Machine& machine, const char* text);

}  // namespace measuring

/// This machine's curves. They are measured if there is no measurement for this processor, number of threads, GPU and
/// driver, or if `remeasure`. They are stored in tern/ in the user's cache folder (XDG_CACHE_HOME, else ~/.cache). If
/// there is no such folder, the next call measures again.
TERN_API Machine machine(bool remeasure = false, const MeasureOptions& options = {}, CallSite here = {});

}}}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "machine.ipp"
#endif
