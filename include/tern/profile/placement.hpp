// On which side a piece of work is faster, from what size or how many uses on: predicted from this machine's curves.
// Not part of tern.hpp.
#pragma once
#include "../autograd/backward.hpp"
#include "../core/random.hpp"
#include "machine.hpp"

namespace tern::inline TERN_BUILD::profile {

/// Whether a question is also answered by running what it is about, on both sides.
struct Ask {
  bool measured = false;
};

/// The answer to a question.
struct TERN_API Where {
  std::string what, why_not;  // why_not: why there is no GPU; empty if there is one
  Times predicted, measured;
  bool is_measured = false, is_step = false;
  double to_device = 0, to_host = 0;  // predicted seconds of the copies of `copied`
  double once = 0, each = 0;  // of the copies that uses of data left there share, and of those that each use repeats
  double grow =
      HUGE_VAL;      // the factor of its sizes from which on copying each time pays; infinite: none that was tried
  std::string from;  // the sizes with that factor

  /// From how many uses of what is copied once the GPU is faster, by what was measured if it was; 0: never.
  Index uses() const;

  /// The answer as a few lines.
  std::string text() const;
};

namespace measuring {

/// The times of a piece of work, and of the copies in them.
struct Predicted {
  Times times;
  double to_device = 0, to_host = 0;
};

/// This thread's matrix products from here on.
class CountedProducts {
 public:
  double flops() const { return tern::detail::device_events.flops - flops_; }
  double count() const { return double(tern::detail::device_events.products - count_); }

 private:
  double flops_ = tern::detail::device_events.flops;
  std::int64_t count_ = tern::detail::device_events.products;
};

/// The random sequence goes on at the end of the scope where it stood.
struct RandomGuard {
  const RandomState before = random_state();
  RandomGuard() {}
  ~RandomGuard() { set_random_state(before); }
  RandomGuard(const RandomGuard&) = delete;
  RandomGuard& operator=(const RandomGuard&) = delete;
};

}  // namespace measuring

/// A machine's curves, and what they predict.
struct TERN_API Placement : Machine {
  /// Seconds of a copy, Work::to_device or Work::to_host, from or to pinned or pageable memory. Infinite without a GPU.
  double copy(double bytes, Work way, bool pinned = false) const {
    return copies[way == Work::to_host][pinned].at(bytes);
  }

  /// [m, k] times [k, n]. Predicted by the square product of as many operations, but never faster than a + b that
  /// touches as much memory.
  Where matmul(Index m, Index n, Index k, Ask ask = {}, Here here = {}) const;

  /// a + b of n elements each.
  Where elementwise(Index n, Ask ask = {}, Here here = {}) const;

  /// model(batch).sum() and its backward pass, for a model and a batch on the CPU. Predicted by the matrix products of
  /// such a step, each as one of their mean size, and by nothing else: a step takes longer. A use is a step: each
  /// copies the batch to the device, and all of them share the copies of the parameters there and back. Runs on copies
  /// of the model; the random sequence stays where it was. Error if there is nothing to predict by.
  template <class Model, class Batch>
  Where step(const Model& model, const Batch& batch, Ask ask = {}, Here here = {}) const {
    const Site user(here);
    const measuring::RandomGuard random;
    const auto run = [](auto& net, const auto& x) {
      net.zero_grad();
      net(x).sum().backward();
    };
    auto net = model.clone();
    const measuring::CountedProducts products;
    run(net, batch);
    if (products.count() == 0 && !ask.measured)
      fail("placement", {"the step has no matrix products to be predicted by: ask for it to be measured"});
    double parameter_bytes = 0;
    for (const auto& parameter : net.parameters()) parameter_bytes += bytes_of(*parameter.tensor.impl());
    Where where = step_of(products.flops(), products.count(), parameter_bytes, bytes_of(*batch.impl()));
    if (!ask.measured) return where;
    where.is_measured = true;
    where.measured.cpu = measuring::least_seconds(false, [&] { run(net, batch); });
    if (!why_not.empty()) return where;
    const int device = cuda::current_device();
    auto net_there = model.to(Cuda{device});
    const auto there = batch.cuda(device);
    where.measured.cuda = measuring::least_seconds(true, [&] { run(net_there, there); });
    where.measured.copied = measuring::least_seconds(true, [&] { run(net_there, batch.cuda(device)); });
    return where;
  }

  /// The curves as a table.
  std::string text() const;

 private:
  static double bytes_of(const TensorImpl& x) { return double(x.numel) * double(size_of(x.dtype)); }
  static Index scaled(double size, double factor) { return Index(std::ceil(size * factor * (1 - 1e-9))); }
  int parts() const { return measuring::on_cpu | (why_not.empty() ? measuring::on_cuda | measuring::with_copies : 0); }

  /// A product of three sizes, or a sum of one.
  measuring::Predicted predict(const double* sizes, int count, double factor) const;

  Where answer(const std::string& what, const double* sizes, int count) const;

  Where step_of(double flops, double products, double parameter_bytes, double batch_bytes) const;

  /// Seconds and rates at the sizes of both curves: of products of n x n, operations; of sums of n, bytes.
  static void add_rows(std::string& out, bool product, const Curve& on_cpu, const Curve& on_cuda);
};

/// How to come by the curves.
struct PlacementOptions {
  bool remeasure = false;  // though they are kept from an earlier run
};

/// This machine's placement report. The first call on a machine measures it, in a few seconds, and keeps what it found
/// (machine()).
TERN_API Placement placement(PlacementOptions options = {}, Here here = {});

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "placement.ipp"
#endif
