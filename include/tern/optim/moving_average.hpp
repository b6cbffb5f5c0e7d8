// The exponential moving average of weights (Polyak, Juditsky: "Acceleration of stochastic approximation by averaging", 1992, with
// weights that fall off).
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/support/overwrite.hpp"
#include "../tensor/parameters.hpp"
#include "state_reader.hpp"

namespace tern::inline TERN_BUILD::optim {

struct ExponentialMovingAverageOptions {
  double decay = 0.999;
};

/// a ← decay a + (1 - decay) p for each parameter, in one pass over it; the first update copies. The average of a 16-bit parameter is in
/// float. PyTorch's AveragedModel with get_ema_multi_avg_fn(decay), on the network itself:
///
///     optim::ExponentialMovingAverage ema(net.parameters(), {.decay = 0.999});
///     …  optimizer.step();  ema.update();  …
///     ema.apply();    // the network's weights are the averages
///     evaluate(net);
///     ema.restore();  // and as they were
class ExponentialMovingAverage {
 public:
  template <class... P>
  ExponentialMovingAverage(const Parameters<P...>& parameters, ExponentialMovingAverageOptions options = {})
      : decay_(options.decay) {
    if (!(options.decay >= 0 && options.decay <= 1)) fail(name, {"decay must be in [0, 1], not ", options.decay});
    for (const NamedTensor& p : parameters) add(p, ops_for<P...>(p.tensor));
    if (entries_.empty()) fail(name, {"there are no parameters"});
  }

  /// Takes the weights into the averages.
  [[gnu::noinline]] void update(Here here = {}) {
    const Site at(here);
    if (entries_[0].kept.defined()) fail(name, {"update() between apply() and restore(): the weights are the averages"});
    if (updates_ == 0 && tern::detail::capture) fail(name, {"the first update copies: do one before capturing"});
    for (const Entry& e : entries_) e.ops->blend(e.average, e.parameter, updates_ == 0 ? 1 : 1 - decay_);
    ++updates_;
  }
  /// Puts the averages into the parameters and keeps the weights for restore().
  [[gnu::noinline, gnu::cold]] void apply(Here here = {}) {
    const Site at(here);
    if (entries_[0].kept.defined()) fail(name, {"apply() twice without restore()"});
    if (updates_ == 0) fail(name, {"apply() before the first update()"});
    for (Entry& e : entries_) {
      e.kept = e.ops->zeros(e.parameter);
      e.ops->blend(e.kept, e.parameter, 1);
      e.ops->put(e.parameter, e.average);
      tern::detail::bump_version(e.parameter.impl());
    }
  }
  /// Gives the parameters the weights back that they had at apply().
  [[gnu::noinline, gnu::cold]] void restore(Here here = {}) {
    const Site at(here);
    if (!entries_[0].kept.defined()) fail(name, {"restore() without apply()"});
    for (Entry& e : entries_) {
      e.ops->put(e.parameter, e.kept);
      tern::detail::bump_version(e.parameter.impl());
      e.kept = {};
    }
  }

  /// The averages by the names of their parameters, as load_state_dict(…, false) of another network takes them.
  [[gnu::noinline, gnu::cold]] StateDict averages() const {
    StateDict dict;
    for (const Entry& e : entries_) tern::detail::append(dict, {e.name}, e.average);
    return dict;
  }
  /// The averages and how many updates there were: to continue bit for bit.
  [[gnu::noinline, gnu::cold]] StateDict state_dict() const {
    StateDict dict = averages();
    const Tensor<Cpu, Index> updates = empty<Cpu, Index>({});
    *updates.data() = updates_;
    tern::detail::append(dict, {"n_averaged"}, updates);
    return dict;
  }
  /// Takes up where state_dict() was made. Error if it is of other parameters.
  [[gnu::noinline, gnu::cold]] void load_state_dict(const StateDict& dict) {
    detail::StateReader reader("load_state_dict", dict);
    std::vector<const AnyTensor*> found;
    for (const Entry& e : entries_) {
      found.push_back(reader.find({e.name}, e.parameter));
      if (!found.back()) fail("load_state_dict", {"the average ", e.name, " is missing"});
    }
    const Index updates = reader.number<Index>({"n_averaged"});
    reader.expect_end();
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].ops->overwrite(entries_[i].average, *found[i]);
    updates_ = updates;
  }

 private:
  static constexpr const char* name = "ExponentialMovingAverage";

  /// For a parameter of one device and element type; an average has the type in which a step is accumulated.
  struct Ops {
    AnyTensor (*zeros)(const AnyTensor& parameter);
    void (*blend)(const AnyTensor& average, const AnyTensor& parameter, double weight);
    void (*put)(const AnyTensor& parameter, const AnyTensor& average);
    void (*overwrite)(const AnyTensor& to, const AnyTensor& from);
  };
  struct Entry {
    std::string name;
    AnyTensor parameter, average, kept;
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
      const Array* const arrays[] = {average.impl(), parameter.impl()};
      backend::run<D, S, const T>(backend::Update([=]<class V>(V& a, V p) { a = a + V(weight) * (p - a); }, arrays));
    }
    static void put(const AnyTensor& parameter, const AnyTensor& average) {
      const Array* const arrays[] = {parameter.impl(), average.impl()};
      backend::run<D, T, const S>(backend::Update([]<class V>(V& p, V a) { p = a; }, arrays));
    }
    static constexpr Ops ops{&zeros, &blend, &put, &tern::detail::overwrite<D, S>};
  };

  template <class... P>
  static const Ops* ops_for(const AnyTensor& parameter) {
    const Ops* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(Place<D, T>) {
      if (parameter.is<D, T>()) ops = &For<D, T>::ops;
    };
    (look(P{}), ...);
    return ops;
  }

  [[gnu::noinline, gnu::cold]] void add(const NamedTensor& p, const Ops* ops) {
    if (!is_dense(*p.tensor.impl())) fail(name, {"parameter ", p.name, " has gaps in memory"});
    entries_.push_back({p.name, p.tensor, ops->zeros(p.tensor), {}, ops});
  }

  double decay_;
  Index updates_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace tern::optim
