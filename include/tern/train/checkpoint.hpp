// Checkpoints: the whole state of a training in one safetensors file. A training that resumes from it continues bit for
// bit.
#pragma once
#include <cmath>
#include <concepts>
#include <tuple>
#include <vector>

#include "../core/random.hpp"
#include "../io/safetensors.hpp"
#include "../nn/module.hpp"
#include "../optim/grad_scaler.hpp"
#include "../optim/optimizer.hpp"
#include "../optim/schedules.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// The position in a training at which a checkpoint was made.
struct Position {
  Index epoch = 0;             // complete epochs
  Index batch = 0;             // batches of the next epoch that are done
  double seconds = 0;          // of training
  double best = std::nan("");  // the best figure on held-out data
};

namespace detail {

/// The entries whose names begin with prefix, without the prefix.
TERN_API StateDict extract(const StateDict& from, const std::string& prefix);

/// A part of a training as a checkpoint sees it.
class Part {
 public:
  virtual ~Part() {}
  /// What its entries' names begin with; later parts of the kind have a number behind it.
  virtual const char* kind() const = 0;
  virtual StateDict state() const = 0;
  /// What is wrong with the state, if the part needs words of the file to say it.
  virtual std::string problem(const StateDict&) const { return {}; }
  /// Checks the state, and changes nothing but this Part. `state` lives until take().
  virtual void read(const StateDict& state) = 0;
  /// Restores what was read. It cannot fail.
  virtual void take() = 0;
  /// Where the part knows the training's position.
  virtual const Position* position() const { return nullptr; }
};

class TERN_API ModelPart final : public Part {
 public:
  explicit ModelPart(const nn::AnyModule& model) : model_(model) {}
  const char* kind() const override { return "model"; }
  TERN_KEY StateDict state() const override;
  TERN_KEY void read(const StateDict& state) override;
  TERN_KEY void take() override;

 private:
  nn::AnyModule model_;
  const StateDict* state_ = nullptr;
};

class TERN_API OptimizerPart final : public Part {
 public:
  explicit OptimizerPart(optim::Optimizer& optimizer) : optimizer_(optimizer) {}
  const char* kind() const override { return "optimizer"; }
  TERN_KEY StateDict state() const override;
  TERN_KEY void read(const StateDict& state) override;
  TERN_KEY void take() override;

 private:
  optim::Optimizer& optimizer_;
  optim::RestoredState state_;
};

class TERN_API PositionPart final : public Part {
 public:
  explicit PositionPart(const Position& position) : position_(position) {}
  const char* kind() const override { return "position"; }
  StateDict state() const override { return {}; }
  void read(const StateDict&) override {}
  void take() override {}
  const Position* position() const override { return &position_; }

 private:
  const Position& position_;
};

/// What is wrong with a number that the file has as another type.
TERN_API std::string other_type(DType saved, DType own);

/// A number of the program's own, as an epoch or the best loss. The file has it as int64 or float64.
template <class X>
  requires std::is_arithmetic_v<X>
class NumberPart final : public Part {
  using Stored = std::conditional_t<std::is_floating_point_v<X>, double, Index>;

 public:
  explicit NumberPart(X& x) : x_(x) {}
  const char* kind() const override { return "number"; }
  StateDict state() const override { return {{"value", full<Cpu, Stored>({}, static_cast<Stored>(x_))}}; }
  std::string problem(const StateDict& state) const override {
    const AnyTensor& saved = state.at("value");
    if (saved.dtype() != dtype_of<Stored>) return other_type(saved.dtype(), dtype_of<Stored>);
    const Stored value = saved.as<Cpu, Stored>().item();
    const bool fits = !std::is_integral_v<X> || static_cast<Stored>(static_cast<X>(value)) == value;
    return fits ? "" : tern::detail::text({" is ", value, ", which does not fit the program's type"});
  }
  void read(const StateDict& state) override { value_ = static_cast<X>(state.at("value").as<Cpu, Stored>().item()); }
  void take() override { x_ = value_; }

 private:
  X& x_;
  X value_ = {};
};

/// Any object with a state that it can check without changing.
template <class X>
concept HasState = requires(X& x, const X& saved, const StateDict& state) {
  { saved.state_dict() } -> std::same_as<StateDict>;
  saved.check(state);
  x.load_state_dict(state);
};

template <HasState X>
class StatePart final : public Part {
 public:
  StatePart(X& x, const char* kind) : x_(x), kind_(kind) {}
  const char* kind() const override { return kind_; }
  StateDict state() const override { return x_.state_dict(); }
  void read(const StateDict& state) override {
    x_.check(state);
    state_ = &state;
  }
  void take() override { x_.load_state_dict(*state_); }

 private:
  X& x_;
  const char* kind_;
  const StateDict* state_ = nullptr;
};

/// A data::Loader.
template <class X>
concept HasLoaderState = requires(X& x, const X& saved) {
  x.set_state(saved.state());
  saved.check(saved.state());
};

TERN_API StateDict loader_dict(Index epoch, Index batch, std::uint64_t seed);
struct LoaderNumbers {
  Index epoch, batch, seed;
};
TERN_API LoaderNumbers loader_numbers(const StateDict& state);

template <HasLoaderState X>
class LoaderPart final : public Part {
 public:
  explicit LoaderPart(X& loader)
      : loader_(loader), position_{.epoch = loader.state().epoch, .batch = loader.state().batch} {}
  const char* kind() const override { return "loader"; }
  StateDict state() const override {
    const auto own = loader_.state();
    return loader_dict(own.epoch, own.batch, own.seed);
  }
  void read(const StateDict& state) override {
    const LoaderNumbers numbers = loader_numbers(state);
    read_ = {numbers.epoch, numbers.batch, std::uint64_t(numbers.seed)};
    loader_.check(read_);
  }
  void take() override { loader_.set_state(read_); }
  const Position* position() const override { return &position_; }

 private:
  X& loader_;
  Position position_;
  decltype(std::declval<X&>().state()) read_{};
};

inline ModelPart part_of(const nn::AnyModule& model) { return ModelPart(model); }
inline OptimizerPart part_of(optim::Optimizer& optimizer) { return OptimizerPart(optimizer); }
inline StatePart<optim::Schedule> part_of(optim::Schedule& schedule) { return {schedule, "schedule"}; }
inline StatePart<optim::GradScalerBase> part_of(optim::GradScalerBase& scaler) { return {scaler, "scaler"}; }
inline PositionPart part_of(const Position& position) { return PositionPart(position); }
template <class X>
  requires std::is_arithmetic_v<X>
NumberPart<X> part_of(X& number) {
  return NumberPart<X>(number);
}
template <HasLoaderState X>
LoaderPart<X> part_of(X& loader) {
  return LoaderPart<X>(loader);
}
template <HasState X>
  requires(!std::derived_from<X, optim::Schedule> && !std::derived_from<X, optim::GradScalerBase>)
StatePart<X> part_of(X& x) {
  return {x, "state"};
}

TERN_API void save_parts(const std::string& path, const std::vector<Part*>& parts);
TERN_API Position load_parts(const std::string& path, const std::vector<Part*>& parts);

}  // namespace detail

/// What a checkpoint can hold.
template <class X>
concept CheckpointPart = requires(std::remove_const_t<X>& x) { detail::part_of(x); };

/// Writes the states of a training's parts and of the random numbers: networks, optimisers, schedules of all kinds,
/// GradScalers, data::Loaders, ExponentialMovingAverages, a Position, and numbers of the program's own, as an epoch or
/// the best loss; each as many as there are and in any order. Without a Position, the first loader's is the training's.
/// The file appears complete or not at all.
///
///   train::save_checkpoint("training.safetensors", net, sgd, schedule, scaler, batches, best_loss);
template <CheckpointPart... Parts>
void save_checkpoint(const tern::detail::TextAt& path, const Parts&... parts) {
  const CallScope scope(path.here);
  auto all = std::tuple(detail::part_of(const_cast<Parts&>(parts))...);  // saving changes none
  std::apply([&](auto&... each) { detail::save_parts(path.text, {&each...}); }, all);
}

/// Restores what save_checkpoint wrote of these parts; of several of a kind in the order that they were saved in. A
/// loader's next loop is the rest of the epoch. Error, and nothing changed, if the file has no such part, belongs to
/// another one, or is damaged.
template <CheckpointPart... Parts>
Position load_checkpoint(const tern::detail::TextAt& path, Parts&... parts) {
  const CallScope scope(path.here);
  auto all = std::tuple(detail::part_of(parts)...);
  return std::apply([&](auto&... each) { return detail::load_parts(path.text, {&each...}); }, all);
}

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "checkpoint.ipp"
#endif
