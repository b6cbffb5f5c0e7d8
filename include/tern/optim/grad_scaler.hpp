// GradScaler: the scale of a loss whose gradients pass through 16-bit numbers, which keeps small ones from becoming 0.
#pragma once
#include "../backend/unscale.hpp"
#include "../ops/arithmetic.hpp"
#include "../ops/extrema.hpp"
#include "optimizer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  Index growth_interval = 2000;
  bool enabled = true;
};

/// The part of GradScaler that does not depend on the device: which optimisers were unscaled and stepped, and the
/// state.
class TERN_API GradScalerBase {
 public:
  [[gnu::cold]] TERN_KEY virtual ~GradScalerBase();
  GradScalerBase(const GradScalerBase&) = delete;
  GradScalerBase& operator=(const GradScalerBase&) = delete;

  bool is_enabled() const { return options_.enabled; }
  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  Index get_growth_interval() const { return options_.growth_interval; }

  /// The scale, the options, and the number of steps since the scale changed, with PyTorch's names; empty if not
  /// enabled. The host waits for the device.
  StateDict state_dict() const;
  /// Restores what state_dict() returned. Error, and nothing changed, if it is not the state of a scaler.
  void load_state_dict(const StateDict& dict, CallSite here = {});
  /// Error unless load_state_dict() takes the dict.
  void check(const StateDict& dict) const;
  /// Forgets what was unscaled since the last update(): the gradients are given up, because an exception has left them.
  void abandon();

 protected:
  GradScalerBase(const GradScalerOptions& options, const CallSite& here);

  enum class Stage { ready, unscaled, stepped };
  struct State {
    Optimizer* optimizer;
    Stage stage;
    AnyTensor found;  // 1 if a gradient was not finite since the last update(), else 0
  };
  State& state_of(Optimizer& optimizer);
  void begin_unscale(const State& state) const;
  void begin_step(const CallSite& op, const State& state) const;
  /// What was found in all optimisers, which are ready again. Error if none was unscaled.
  std::vector<AnyTensor> take_found();

  struct Numbers {
    double scale;
    Index growth_tracker;
  };
  virtual Numbers numbers() const = 0;
  virtual void set_numbers(const Numbers& numbers) = 0;

  GradScalerOptions options_;

 private:
  std::vector<State> states_;
};

/// Multiplies a loss by a scale, and divides its gradients by it before the optimiser's step. A step whose gradients
/// are not all finite is skipped, and the scale multiplied by backoff_factor; after growth_interval steps that were not
/// it is multiplied by growth_factor (Micikevicius et al.: "Mixed precision training", 2018):
///
///   optim::GradScaler<Cuda> scaler;
///   scaler.scale(cross_entropy(net(x), y)).backward();
///   scaler.unscale_(sgd);                             // to clip the gradients; else step() does it
///   optim::clip_grad_norm_(net.parameters(), 1);
///   scaler.step(sgd);
///   scaler.update();
///
/// Gradients of several batches are added under one scale: unscale_(), step() and update() come once, after the last of
/// them.
///
/// All parameters are on one device of kind D. If the host cannot read its memory, nothing waits for it, and the calls
/// may be captured in a graph: the scale and the decision are the device's (see Optimizer::step_unless).
template <Device D>
struct GradScaler final : GradScalerBase {
  explicit GradScaler(const GradScalerOptions& options = {}, D device = tern::detail::current_device<D>(),
                      CallSite here = {})
      : GradScalerBase(options, here), scale_(full<D>({}, options.init_scale, device)),
        growth_tracker_(zeros<D>({}, device)) {}

  /// loss times the scale, as floats if the loss is in 16 bits. loss may have any shape.
  template <Floating T>
  Tensor<D, compute_t<T>> scale(const Tensor<D, T>& loss, CallSite here = {}) const {
    const CallScope scope(here);
    const auto wide = to_type(loss, tern::detail::Type<compute_t<T>>{});
    return options_.enabled ? mul(wide, to_type(scale_, tern::detail::Type<compute_t<T>>{})) : wide;
  }

  /// Divides the optimiser's gradients by the scale, and looks for what is not finite, in one pass. Error if this was
  /// done since the last update().
  void unscale_(Optimizer& optimizer, CallSite here = {}) {
    if (!options_.enabled) return;
    const CallScope scope(here);
    const NoGradGuard off;
    State& state = state_of(optimizer);
    begin_unscale(state);
    if (!state.found.defined()) state.found = empty_like(scale_);
    detail::backend::run<D>(detail::backend::Fill<float>{*state.found.impl(), 0});
    bool any = false;
    for (const Slot& slot : optimizer.state_slots()) {
      if (!has_gradient(slot)) continue;
      any = true;
      const AnyTensor& p = slot.parameter;
      if (!(p.template is<D, float>() || p.template is<D, double>() || p.template is<D, bfloat16>() ||
            p.template is<D, half>()))
        Error::fail("unscale_",
                    {"parameter ", slot.name, " is on ", p.device_name(), ", the scale on ", DeviceTraits<D>::name});
    }
    if (!any) Error::fail("unscale_", {"no parameter of the optimiser has a gradient"});
    unscale<float>(optimizer, state);
    unscale<double>(optimizer, state);
    unscale<bfloat16>(optimizer, state);
    unscale<half>(optimizer, state);
    state.stage = Stage::unscaled;
  }

  /// The optimiser's step, if all gradients are finite. They are unscaled first unless that was done. Error if this was
  /// done since the last update().
  void step(Optimizer& optimizer, CallSite here = {}) {
    if (!options_.enabled) return optimizer.step(here);
    State& state = state_of(optimizer);
    begin_step({"GradScaler::step", here}, state);
    if (state.stage == Stage::ready) unscale_(optimizer, here);
    optimizer.step_unless(state.found, here);
    state.stage = Stage::stepped;
  }

  /// Changes the scale by what was found since the last update(). Error if no gradients were unscaled.
  void update(CallSite here = {}) {
    if (!options_.enabled) return;
    const CallScope scope(here);
    const NoGradGuard off;
    Tensor<D> found;
    for (const AnyTensor& one : take_found()) found = found.defined() ? maximum(found, one.as<D>()) : one.as<D>();
    const auto rule = [grow = options_.growth_factor, back = options_.backoff_factor,
                       interval = double(options_.growth_interval)]<class V>(V& scale, V& tracker, V overflow) {
      const V next = tracker + 1, grown = scale * V(grow);
      const auto is_due = next >= V(interval), overflowed = overflow > V(0);
      scale = where(overflowed, scale * V(back), where(is_due & isfinite(grown), grown, scale));
      tracker = where(overflowed | is_due, V(0), next);
    };
    const tern::detail::Array* const arrays[] = {scale_.impl(), growth_tracker_.impl(), found.impl()};
    detail::backend::run<D, float, float, const float>(detail::backend::Update(rule, arrays));
    tern::detail::bump_version(scale_.impl());
  }
  /// Sets the scale.
  void update(tern::detail::RealNumber new_scale, CallSite here = {}) {
    if (!options_.enabled) return;
    take_found();
    fill_(scale_, new_scale, here);
  }

  /// The host waits for it.
  double get_scale(CallSite here = {}) const { return options_.enabled ? double(scale_.item(here)) : 1; }

 private:
  static bool has_gradient(const Slot& slot) {
    const tern::detail::Node* const node = slot.parameter.impl()->node;
    return node && node->gradient;
  }

  /// Unscales the gradients of type T.
  template <class T>
  void unscale(const Optimizer& optimizer, const State& state) const {
    std::vector<const tern::detail::Array*> gradients;
    for (const Slot& slot : optimizer.state_slots()) {
      if (!has_gradient(slot) || !slot.parameter.template is<D, T>()) continue;
      tern::detail::Node* const node = slot.parameter.impl()->node;
      if (!tern::detail::is_dense(*node->gradient)) {
        tern::detail::TensorImpl* const dense = tern::detail::copied(tern::detail::device_ops<D>, node->gradient);
        tern::detail::release(std::exchange(node->gradient, dense));
      }
      tern::detail::bump_version(node->gradient);
      gradients.push_back(node->gradient);
    }
    if (!gradients.empty())
      detail::backend::run<D, T>(
          detail::backend::Unscale{gradients.data(), int(gradients.size()), *scale_.impl(), *state.found.impl()});
  }

  Numbers numbers() const override { return {double(scale_.item()), Index(growth_tracker_.item())}; }
  void set_numbers(const Numbers& numbers) override {
    fill_(scale_, numbers.scale);
    fill_(growth_tracker_, double(numbers.growth_tracker));
  }

  Tensor<D> scale_, growth_tracker_;  // one float each
};

TERN_CLASS_INSTANCE(GradScaler<Cpu>)
TERN_CUDA_CLASS_INSTANCE(GradScaler<Cuda>)

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "grad_scaler.ipp"
#endif
