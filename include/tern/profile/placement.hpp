// Predicts from this machine's curves whether the CPU or the GPU is faster for a piece of work, and from which size or
// number of uses on. Not part of tern.hpp.
#pragma once
#include <optional>

#include "../autograd/backward.hpp"
#include "../core/random.hpp"
#include "machine.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

/// What a copy is, to_device or to_host.
using tern::detail::Work;

/// The options of a question: with `measured`, the work is also run on both sides.
struct PredictOptions {
  bool measured = false;
};

/// From where on the GPU is faster.
struct Crossing {
  double grow = HUGE_VAL;  // the factor of the question's sizes; infinite: none that the curves reach
  std::string from;        // the sizes multiplied by that factor
};

/// The answer to a question.
struct TERN_API Prediction {
  std::string what, why_not;  // why_not: the reason why there is no GPU; empty if there is one
  Times predicted, measured;
  bool is_measured = false, is_step = false;
  double to_device = 0, to_host = 0;   // predicted seconds of the copies in `copied`
  Index kernels = 0;                   // of a step on the GPU
  double queueing = 0, computing = 0;  // its predicted seconds of the host, which queues them, and of the device: the
                                       // longer of the two is the step's
  double once = 0, each = 0;           // seconds of copies that all uses share, and of those that each use repeats
  Crossing there, copying;  // from where on the GPU is faster with data there, and with copies each time; not of a step

  /// The number of uses from which on the GPU is faster, if data are copied once. It goes by measured times if there
  /// are any. 0: never. None if one of the times or copies is not_measured.
  std::optional<Index> uses() const;

  /// The answer as a few lines.
  std::string text() const;
};

namespace measuring {

/// Milliseconds in 14 columns, or "not measured".
TERN_API std::string milliseconds(double seconds);

/// The predicted times of a piece of work, and of the copies that it includes.
struct PredictedTimes {
  Times times;
  double to_device = 0, to_host = 0;
};

/// What a step does on a device: its work, the kernels that the host queues, and its copies.
struct StepWork {
  std::vector<tern::detail::CountedWork> work;
  std::int64_t kernels = 0, copies[2] = {}, bytes[2] = {};  // [to the host]
};

/// The work of the second of two runs: the first one makes an optimiser's state.
TERN_API StepWork work_of(void (*run)(const void* f), const void* f);
template <class F>
StepWork work_of(const F& f) {
  return work_of([](const void* g) { (*static_cast<const F*>(g))(); }, &f);
}

/// Restores the state of the random numbers at the end of the scope.
struct RandomGuard {
  const RandomState before = random_state();
  RandomGuard() {}
  ~RandomGuard() { set_random_state(before); }
  RandomGuard(const RandomGuard&) = delete;
  RandomGuard& operator=(const RandomGuard&) = delete;
};

}  // namespace measuring

/// A machine's curves, and predictions from them.
struct TERN_API Placement : Machine {
  /// The seconds of a copy, Work::to_device or Work::to_host, from or to pinned or pageable memory. not_measured
  /// without a GPU.
  double copy(double bytes, Work way, bool pinned = false) const {
    return copies[way == Work::to_host][pinned].at(bytes);
  }

  /// [m, k] times [k, n]. The prediction is the time of the square product with as many operations, but at least that
  /// of an a + b that touches as much memory.
  Prediction matmul(Index m, Index n, Index k, PredictOptions options = {}, CallSite here = {}) const;

  /// a + b with n elements each.
  Prediction elementwise(Index n, PredictOptions options = {}, CallSite here = {}) const;

  /// A step that make(device) returns for Cpu and for the current Cuda: a function without arguments that does one. It
  /// is run twice on both to list its work: products, convolutions, passes over memory, copies. Each piece takes what
  /// the curves say. On the GPU the host queues kernels while the device computes, so a step takes the longer of both,
  /// and its copies. Error if a step does nothing that is counted.
  template <class Make>
  Prediction training_step(const Make& make, PredictOptions options = {}, CallSite here = {}) const {
    const CallScope scope(here);
    const measuring::RandomGuard random;
    auto one = make(Cpu{});
    const auto on_host = [&] { one(); };
    const measuring::StepWork host = measuring::work_of(on_host);
    Prediction prediction;
    if (!why_not.empty()) {
      prediction = step_of(host, {}, 0, 0);
    } else {
      auto there = make(Cuda{cuda::current_device()});
      const auto on_device = [&] { there(); };
      prediction = step_of(host, measuring::work_of(on_device), 0, 0);
      if (options.measured)
        prediction.measured.cuda = prediction.measured.copied = measuring::least_seconds(true, on_device);
    }
    if (options.measured)
      prediction.is_measured = true, prediction.measured.cpu = measuring::least_seconds(false, on_host);
    return prediction;
  }

  /// The same for model(batch).sum() and its backward pass, for a model and a batch on the CPU. A use is one step: each
  /// step copies the batch to the device; all steps share the copies of the parameters to the device and back. It runs
  /// on copies of the model and restores the random state.
  template <class Model, class Batch>
  Prediction step(const Model& model, const Batch& batch, PredictOptions options = {}, CallSite here = {}) const {
    const CallScope scope(here);
    const measuring::RandomGuard random;
    const auto run = [](auto& net, const auto& x) {
      net.zero_grad();
      net(x).sum().backward();
    };
    auto net = model.clone();
    const auto on_host = [&] { run(net, batch); };
    const measuring::StepWork host = measuring::work_of(on_host);
    double parameter_bytes = 0;
    for (const auto& parameter : net.parameters()) parameter_bytes += bytes_of(*parameter.tensor.impl());
    Prediction prediction;
    if (!why_not.empty()) {
      prediction = step_of(host, {}, parameter_bytes, bytes_of(*batch.impl()));
    } else {
      const int device = cuda::current_device();
      auto net_there = model.to(Cuda{device});
      const auto there = batch.cuda(device);
      const auto on_device = [&] { run(net_there, there); };
      prediction = step_of(host, measuring::work_of(on_device), parameter_bytes, bytes_of(*batch.impl()));
      if (options.measured) {
        prediction.measured.cuda = measuring::least_seconds(true, on_device);
        prediction.measured.copied = measuring::least_seconds(true, [&] { run(net_there, batch.cuda(device)); });
      }
    }
    if (options.measured)
      prediction.is_measured = true, prediction.measured.cpu = measuring::least_seconds(false, on_host);
    return prediction;
  }

  /// The curves as a table.
  std::string text() const;

 private:
  static double bytes_of(const tern::detail::TensorImpl& x) {
    return double(x.numel) * double(tern::detail::size_of(x.dtype));
  }
  int parts() const { return measuring::on_cpu | (why_not.empty() ? measuring::on_cuda | measuring::with_copies : 0); }

  /// A product, with three sizes, or a sum, with one.
  measuring::PredictedTimes predict(const double* sizes, int count, double factor) const;

  Prediction answer(const std::string& what, const double* sizes, int count) const;

  /// From where on side is less than the CPU's time.
  Crossing crossing(const double* sizes, int count, double Times::* side) const;

  /// The sum of what the curves say to each piece of work.
  double seconds_of(const std::vector<tern::detail::CountedWork>& work, const Curve& matmul, const Curve& convolution,
                    const Curve& elementwise) const;

  Prediction step_of(const measuring::StepWork& host, const measuring::StepWork& device, double parameter_bytes,
                     double batch_bytes) const;

  /// Seconds and rates at the sizes of both curves: operations for products of n x n, bytes for sums of n.
  static void add_rows(std::string& out, bool product, const Curve& on_cpu, const Curve& on_cuda);
};

/// How to get the curves.
struct PlacementOptions {
  bool remeasure = false;  // even if there is a stored measurement
};

/// This machine's placement report. The first call on a machine measures it for a few seconds and stores the result
/// (machine()).
TERN_API Placement placement(PlacementOptions options = {}, CallSite here = {});

}}}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "placement.ipp"
#endif
