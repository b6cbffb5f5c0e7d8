// Predicts from this machine's curves whether the CPU or the GPU is faster for a piece of work, and from which size or
// number of uses on. Not part of tern.hpp.
#pragma once
#include <optional>

#include "../autograd/backward.hpp"
#include "../core/random.hpp"
#include "machine.hpp"

namespace tern::inline TERN_BUILD::profile {

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
  double to_device = 0, to_host = 0;  // predicted seconds of the copies in `copied`
  double once = 0, each = 0;  // seconds of copies that all uses share, and of those that each use repeats
  Crossing there, copying;    // from where on the GPU is faster with data there, and with copies each time; not of a step

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

/// Counts this thread's matrix products from now on.
class CountedProducts {
 public:
  double flops() const { return tern::detail::device_events.flops - flops_; }
  double count() const { return double(tern::detail::device_events.products - count_); }

 private:
  double flops_ = tern::detail::device_events.flops;
  std::int64_t count_ = tern::detail::device_events.products;
};

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
  /// The seconds of a copy, Work::to_device or Work::to_host, from or to pinned or pageable memory. not_measured without a
  /// GPU.
  double copy(double bytes, Work way, bool pinned = false) const {
    return copies[way == Work::to_host][pinned].at(bytes);
  }

  /// [m, k] times [k, n]. The prediction is the time of the square product with as many operations, but at least that
  /// of an a + b that touches as much memory.
  Prediction matmul(Index m, Index n, Index k, PredictOptions options = {}, Here here = {}) const;

  /// a + b with n elements each.
  Prediction elementwise(Index n, PredictOptions options = {}, Here here = {}) const;

  /// model(batch).sum() and its backward pass, for a model and a batch on the CPU. The prediction counts only the
  /// matrix products of the step, each with their mean size, so a real step takes longer. A use is one step: each step
  /// copies the batch to the device; all steps share the copies of the parameters to the device and back. It runs on
  /// copies of the model and restores the random state. Error if the step has nothing to predict by.
  template <class Model, class Batch>
  Prediction step(const Model& model, const Batch& batch, PredictOptions options = {}, Here here = {}) const {
    const Site user(here);
    const measuring::RandomGuard random;
    const auto run = [](auto& net, const auto& x) {
      net.zero_grad();
      net(x).sum().backward();
    };
    auto net = model.clone();
    const measuring::CountedProducts products;
    run(net, batch);
    if (products.count() == 0 && !options.measured)
      fail("placement", {"the step has no matrix products to be predicted by: ask for it to be measured"});
    double parameter_bytes = 0;
    for (const auto& parameter : net.parameters()) parameter_bytes += bytes_of(*parameter.tensor.impl());
    Prediction prediction = step_of(products.flops(), products.count(), parameter_bytes, bytes_of(*batch.impl()));
    if (!options.measured) return prediction;
    prediction.is_measured = true;
    prediction.measured.cpu = measuring::least_seconds(false, [&] { run(net, batch); });
    if (!why_not.empty()) return prediction;
    const int device = cuda::current_device();
    auto net_there = model.to(Cuda{device});
    const auto there = batch.cuda(device);
    prediction.measured.cuda = measuring::least_seconds(true, [&] { run(net_there, there); });
    prediction.measured.copied = measuring::least_seconds(true, [&] { run(net_there, batch.cuda(device)); });
    return prediction;
  }

  /// The curves as a table.
  std::string text() const;

 private:
  static double bytes_of(const TensorImpl& x) { return double(x.numel) * double(size_of(x.dtype)); }
  int parts() const { return measuring::on_cpu | (why_not.empty() ? measuring::on_cuda | measuring::with_copies : 0); }

  /// A product, with three sizes, or a sum, with one.
  measuring::PredictedTimes predict(const double* sizes, int count, double factor) const;

  Prediction answer(const std::string& what, const double* sizes, int count) const;

  /// From where on side is less than the CPU's time.
  Crossing crossing(const double* sizes, int count, double Times::*side) const;

  Prediction step_of(double flops, double products, double parameter_bytes, double batch_bytes) const;

  /// Seconds and rates at the sizes of both curves: operations for products of n x n, bytes for sums of n.
  static void add_rows(std::string& out, bool product, const Curve& on_cpu, const Curve& on_cuda);
};

/// How to get the curves.
struct PlacementOptions {
  bool remeasure = false;  // even if there is a stored measurement
};

/// This machine's placement report. The first call on a machine measures it for a few seconds and stores the result
/// (machine()).
TERN_API Placement placement(PlacementOptions options = {}, Here here = {});

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "placement.ipp"
#endif
