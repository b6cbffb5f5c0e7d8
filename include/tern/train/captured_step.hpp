// The step of a training that fit() captures in a graph and replays, where the device can.
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "../device/capture.hpp"
#include "../device/device.hpp"
#include "../device/events.hpp"
#include "../ops/copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train::detail {

template <class D, class X>
inline constexpr bool is_tensor_on = false;
template <class D, class T>
inline constexpr bool is_tensor_on<D, Tensor<D, T>> = true;

/// A tuple of tensors on D, whose work a graph can contain.
template <class Batch, class D>
concept Capturable = requires(const Batch& batch) {
  typename DeviceTraits<D>::Graph;
  std::apply([]<class... X>(const X & ...)
               requires(... && is_tensor_on<D, X>)
             {},
             batch);
};

/// No step is captured on this device, or of such batches.
template <Device D, class Batch>
class CapturedStep {
 public:
  explicit CapturedStep(const std::string&) {}
  template <class Work>
  bool run(const Batch&, const Work&) {
    return false;
  }
  std::string refusal() const {
    return requires { typename DeviceTraits<D>::Graph; } ? "a batch is no tuple of tensors on the device" : "";
  }
};

/// The first steps are plain: they allocate what the optimiser and NVIDIA's libraries keep. Then one is captured, and
/// each later batch of the first one's shapes replays it. What cannot be captured stays plain.
template <Device D, Capturable<D> Batch>
class CapturedStep<D, Batch> {
 public:
  static constexpr Index plain_steps = 3;

  /// refusal: why no step may be captured, or empty.
  explicit CapturedStep(std::string refusal) : refusal_(std::move(refusal)) {}

  /// Does work(members of the batch…) by a replay. False, and nothing is done, if the batch wants a plain step.
  template <class Work>
  bool run(const Batch& batch, const Work& work) {
    if (!refusal_.empty()) return false;
    if (!inputs_) inputs_ = std::apply([](const auto&... x) { return Batch(clone(x.detach())...); }, batch);
    if (!has_shapes_of(batch) || seen_++ < plain_steps) return false;
    auto& events = tern::detail::device_events;
    if (is_captured_) {
      tern::detail::count_products(products_, flops_);
    } else {
      const auto products = events.products;
      const double flops = events.flops;
      try {
        graph_.capture([&] { std::apply(work, *inputs_); });
      } catch (const Error& e) {
        refusal_ = e.what();
        events.products = products, events.flops = flops;
        return false;
      }
      is_captured_ = true;
      products_ = events.products - products;
      flops_ = events.flops - flops;
    }
    each_pair(batch, [](const auto& input, const auto& x) { copy_(input, x.detach()); });
    graph_.replay();
    return true;
  }
  /// Why all steps are plain; empty if they need not be.
  const std::string& refusal() const { return refusal_; }

 private:
  /// f(input, member) for each member of a batch.
  template <class F>
  void each_pair(const Batch& batch, const F& f) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::get<I>(*inputs_), std::get<I>(batch)), ...);
    }(std::make_index_sequence<std::tuple_size_v<Batch>>{});
  }
  bool has_shapes_of(const Batch& batch) const {
    bool same = true;
    each_pair(batch, [&](const auto& input, const auto& x) {
      same = same && tern::detail::same_shape(*input.impl(), *x.impl());
    });
    return same;
  }

  std::string refusal_;
  std::optional<Batch> inputs_;  // which the graph reads
  Index seen_ = 0;               // batches of their shapes
  typename DeviceTraits<D>::Graph graph_;
  bool is_captured_ = false;
  std::int64_t products_ = 0;  // that a replay computes
  double flops_ = 0;
};

}}}  // namespace tern::train::detail
