// Muon (Jordan and others: "Muon: an optimizer for hidden layers in neural networks", 2024).
#pragma once
#include <cmath>

#include "../core/choice.hpp"
#include "../ops/blas.hpp"
#include "../ops/power.hpp"
#include "../ops/where.hpp"
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

/// The factor of the learning rate for a matrix of A rows and B columns.
enum class AdjustLR {
  original,         // √max(1, A / B)
  match_rms_adamw,  // 0.2 √max(A, B): AdamW's learning rates fit (Liu and others: "Muon is scalable for LLM training",
                    // 2025)
  spectral_unclamped,  // √(A / B)
};

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  double ns_coefficients[3] = {3.4445, -4.775, 2.0315};
  double eps = 1e-7;
  Index ns_steps = 5;
  tern::detail::Choice<AdjustLR, "original", "match_rms_adamw", "spectral_unclamped"> adjust_lr_fn = AdjustLR::original;
};

namespace detail {

/// An approximation of the orthogonal matrix nearest to G: X ← a X + (b X Xᵀ + c (X Xᵀ)²) X, starting from X = G /
/// max(‖G‖, eps).
template <class D, class T>
Tensor<D, T> orthogonalised(const Tensor<D, T>& gradient, const MuonOptions& o) {
  const double a = o.ns_coefficients[0], b = o.ns_coefficients[1], c = o.ns_coefficients[2];
  const bool tall = gradient.size(0) > gradient.size(1);
  Tensor<D, T> x = tall ? gradient.t() : gradient;
  x = x / clamp_min(sqrt(sum(x * x)), o.eps);
  for (Index step = 0; step < o.ns_steps; ++step) {
    const Tensor<D, T> gram = matmul(x, x.t());
    x = addmm(x, addmm(gram, gram, gram, b, c), x, a);
  }
  return contiguous(tall ? x.t() : x);
}

}  // namespace detail

/// b ← momentum b + (1 - momentum) g;  G = nesterov ? (1 - momentum) g + momentum b : b;  p ← (1 - lr weight_decay) p -
/// lr r X. X is the orthogonalised G, and r the factor of adjust_lr_fn. Only for matrices; give the other parameters to
/// another optimiser. The iteration runs in the gradient's type (in float for 16-bit types), PyTorch's in bfloat16. A
/// cuda::Graph keeps the momentum of its capture.
class TERN_API Muon : public Grouped<Muon, MuonOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Muon(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber weight_decay,
       tern::detail::RealNumber momentum = 0.95, tern::detail::Positional<bool> nesterov = true, CallSite here = {})
      : Grouped(parameters, {lr, weight_decay, momentum, nesterov}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Muon";
  static constexpr bool counts_on_host = true;
  static constexpr bool one_by_one = true;  // a direction takes as much memory as the parameter
  static constexpr std::initializer_list<const char*> states{"momentum_buffer"};
  static void check(const MuonOptions& o) {
    detail::check(name, "momentum", o.momentum);
    detail::check(name, "weight_decay", o.weight_decay);
    if (o.ns_steps < 0 || o.ns_steps >= 100) Error::fail(name, {"ns_steps must be in [0, 100), not ", o.ns_steps});
  }
  static void check_parameters(const std::vector<NamedTensor>& parameters) {
    for (const NamedTensor& p : parameters)
      if (p.tensor.shape().n != 2)
        Error::fail(name, {"only matrices can be stepped; parameter ", p.name, " has shape ", p.tensor.shape()});
  }

  static double ratio(AdjustLR adjust, const tern::detail::Shape& shape) {
    const double rows = double(shape[0]), columns = double(shape[1]);
    if (adjust == AdjustLR::match_rms_adamw) return 0.2 * std::sqrt(rows > columns ? rows : columns);
    const double squared = rows / columns;
    return std::sqrt(adjust == AdjustLR::original && squared < 1 ? 1 : squared);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);

  template <class D, class T>
  static Tensor<D, compute_t<T>> direction(Slot& slot, const Tensor<D, T>& gradient, const MuonOptions& o) {
    using S = compute_t<T>;
    const auto buffer = slot.state[0].template as<D, S>(), mixed = empty<D, S>(gradient.shape(), gradient.device());
    tern::detail::take_order(mixed.impl(), *gradient.impl());
    const double fresh = 1 - o.momentum, from_buffer = o.nesterov ? o.momentum : 1;
    const tern::detail::Array* const arrays[] = {buffer.impl(), mixed.impl(), gradient.impl()};
    const auto mix = [=]<class V>(V& b, V& m, V g) {
      b = b + V(fresh) * (g - b);
      m = g + V(from_buffer) * (b - g);
    };
    detail::backend::run<D, S, S, const T>(detail::backend::Update(mix, arrays));
    return detail::orthogonalised(mixed, o);
  }
};

template <class D, class T>
void Muon::update(Optimizer& optimizer, const ParameterStep& step) {
  const MuonOptions& o = options_of(optimizer, step);
  Slot& slot = *step.state_slots[0];
  const double keep = 1 - o.lr * o.weight_decay, rate = o.lr * ratio(o.adjust_lr_fn, slot.parameter.shape());
  update_by<D, T>(
      step, 1, [&](const Tensor<D, T>& g) { return direction<D, T>(slot, g, o); },
      [=]<class V>(V& p, V x) { p = V(keep) * p - V(rate) * x; });
}

TERN_OPTIMIZER(Muon)

}}}  // namespace tern::optim
