// The exponential moving average of weights (Polyak, Juditsky: "Acceleration of stochastic approximation by averaging",
// 1992, here with exponentially decaying weights).
#pragma once
#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/support/overwrite.hpp"
#include "../tensor/parameters.hpp"
#include "state_reader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct ExponentialMovingAverageOptions {
  double decay = 0.999;
};

/// a ← decay a + (1 - decay) p for each parameter, in one pass over it. The first update copies. The average of a
/// 16-bit parameter is in float. It is PyTorch's AveragedModel with get_ema_multi_avg_fn(decay), but works on the
/// network itself:
///
///     optim::ExponentialMovingAverage ema(net.parameters(), {.decay = 0.999});
///     …  optimizer.step();  ema.update();  …
///     ema.apply();    // the network's weights are the averages
///     evaluate(net);
///     ema.restore();  // the weights are back
class TERN_API ExponentialMovingAverage {
 public:
  template <class... P>
  ExponentialMovingAverage(const tern::detail::Parameters<P...>& parameters,
                           ExponentialMovingAverageOptions options = {}, CallSite here = {})
      : decay_(options.decay) {
    const CallScope scope(here);
    if (!(options.decay >= 0 && options.decay <= 1))
      Error::fail(name, {"decay must be in [0, 1], not ", options.decay});
    for (const auto& p : parameters) add(p, ops_for<P...>(p.tensor));
    if (entries_.empty()) Error::fail(name, {"there are no parameters"});
  }
  template <class X>
    requires requires { typename X::device_type; }
  ExponentialMovingAverage(const std::vector<X>& tensors, ExponentialMovingAverageOptions options = {},
                           CallSite here = {})
      : ExponentialMovingAverage(tern::detail::parameters_of(tensors), options, here) {}
  template <Device D, Element T>
  ExponentialMovingAverage(std::initializer_list<Tensor<D, T>> tensors, ExponentialMovingAverageOptions options = {},
                           CallSite here = {})
      : ExponentialMovingAverage(std::vector<Tensor<D, T>>(tensors), options, here) {}

  /// Updates the averages with the weights.
  void update(CallSite here = {});
  /// Writes the averages to the parameters and keeps the weights for restore().
  void apply(CallSite here = {});
  /// Restores the weights that the parameters had before apply().
  void restore(CallSite here = {});

  /// The averages under the names of their parameters. Another network reads them with load_state_dict(…, false).
  StateDict averages() const;
  /// The averages and the number of updates, which are enough to continue bit for bit.
  StateDict state_dict() const;
  /// Restores what state_dict() returned. Error, and nothing changed, if it belongs to other parameters.
  void load_state_dict(const StateDict& dict, CallSite here = {});
  /// Error unless load_state_dict() takes the dict.
  void check(const StateDict& dict) const;

 private:
  static constexpr const char* name = "ExponentialMovingAverage";

  /// The operations for a parameter of one device and element type. An average has the type in which a step is
  /// accumulated.
  struct Ops {
    AnyTensor (*zeros)(const AnyTensor& parameter);
    void (*blend)(const AnyTensor& average, const AnyTensor& parameter, double weight);
    void (*put)(const AnyTensor& parameter, const AnyTensor& average);
    void (*overwrite)(const AnyTensor& to, const AnyTensor& from);
  };
  struct Entry {
    std::string name;
    AnyTensor parameter, average, saved;
    const Ops* ops;
  };

  template <class D, class T>
  struct For {
    using S = compute_t<T>;
    static AnyTensor zeros(const AnyTensor& parameter) {
      const auto average = tern::zeros<D, S>(parameter.shape(), tern::detail::device_at<D>(parameter.impl()->ordinal));
      tern::detail::take_order(average.impl(), *parameter.impl());
      return average;
    }
    static void blend(const AnyTensor& average, const AnyTensor& parameter, double weight) {
      const tern::detail::Array* const arrays[] = {average.impl(), parameter.impl()};
      tern::detail::backend::run<D, S, const T>(
          tern::detail::backend::Update([=]<class V>(V& a, V p) { a = a + V(weight) * (p - a); }, arrays));
    }
    static void put(const AnyTensor& parameter, const AnyTensor& average) {
      const tern::detail::Array* const arrays[] = {parameter.impl(), average.impl()};
      tern::detail::backend::run<D, T, const S>(
          tern::detail::backend::Update([]<class V>(V& p, V a) { p = a; }, arrays));
    }
    static constexpr Ops ops{&zeros, &blend, &put, &tern::detail::overwrite<D, S>};
  };

  template <class... P>
  static const Ops* ops_for(const AnyTensor& parameter) {
    const Ops* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(tern::detail::TensorType<D, T>) {
      if (parameter.is<D, T>()) ops = &For<D, T>::ops;
    };
    (look(P{}), ...);
    return ops;
  }

  void add(const NamedTensor& p, const Ops* ops);

  struct State {
    std::vector<const AnyTensor*> averages;  // in the dict, one for each entry
    Index updates;
  };
  State read(const StateDict& dict) const;

  double decay_;
  Index updates_ = 0;
  std::vector<Entry> entries_;
};

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "moving_average.ipp"
#endif
