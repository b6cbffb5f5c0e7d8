// L-BFGS (Liu, Nocedal: "On the limited memory BFGS method for large scale optimization", 1989).
#pragma once
#include <cmath>

#include "../autograd/backward.hpp"
#include "../core/choice.hpp"
#include "../ops/cat.hpp"
#include "../ops/extrema.hpp"
#include "../ops/support/in_place.hpp"
#include "../ops/matmul.hpp"
#include "../ops/rounding.hpp"
#include "../ops/reduce.hpp"
#include "../tensor/parameters.hpp"
#include "line_search.hpp"
#include "state_reader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

enum class LineSearch { strong_wolfe, none };  // none has no text: it is PyTorch's None

struct LBFGSOptions {
  double lr = 1;
  Index max_iter = 20;
  Index max_eval = -1;  // negative: 5/4 max_iter
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  Index history_size = 100;
  tern::detail::Choice<LineSearch, "strong_wolfe"> line_search_fn = LineSearch::none;
};

/// Quasi-Newton steps. The curvature is estimated from the last history_size changes of the gradient. For small
/// problems whose loss covers all data. step(closure) makes up to max_iter iterations:
///
///     optim::LBFGS lbfgs(net.parameters(), {.line_search_fn = "strong_wolfe"});
///     lbfgs.step([&] {
///       lbfgs.zero_grad();
///       auto loss = mse_loss(net(x), y);
///       loss.backward();
///       return loss;
///     });
///
/// All parameters have one device and type. In each iteration the host waits for the loss and a few dot products.
template <Device D, Element T>
class LBFGS {
  using Vector = Tensor<D, T>;

 public:
  LBFGS(const tern::detail::Parameters<tern::detail::TensorType<D, T>>& parameters, LBFGSOptions options = {},
        CallSite here = {})
      : options_(options) {
    const CallScope scope(here);
    if (parameters.empty()) Error::fail(name, {"there are no parameters"});
    if (!(options.lr >= 0)) Error::fail(name, {"lr must not be negative: ", options.lr});
    if (options.max_iter < 1) Error::fail(name, {"max_iter must be positive, not ", options.max_iter});
    if (options.history_size < 1) Error::fail(name, {"history_size must be positive, not ", options.history_size});
    for (const auto& p : parameters) parameters_.push_back(p.tensor.template as<D, T>());
    if (options_.max_eval < 0) options_.max_eval = options.max_iter * 5 / 4;
  }
  LBFGS(const std::vector<Tensor<D, T>>& tensors, LBFGSOptions options = {}, CallSite here = {})
      : LBFGS(tern::detail::parameters_of(tensors), options, here) {}
  LBFGS(std::initializer_list<Tensor<D, T>> tensors, LBFGSOptions options = {}, CallSite here = {})
      : LBFGS(std::vector<Tensor<D, T>>(tensors), options, here) {}
  template <tern::detail::PlainNumber N>
  LBFGS(const tern::detail::Parameters<tern::detail::TensorType<D, T>>& parameters, N lr, CallSite here = {})
      : LBFGS(parameters, LBFGSOptions{.lr = static_cast<double>(lr)}, here) {}
  template <tern::detail::PlainNumber N>
  LBFGS(const std::vector<Tensor<D, T>>& tensors, N lr, CallSite here = {})
      : LBFGS(tern::detail::parameters_of(tensors), lr, here) {}
  template <tern::detail::PlainNumber N>
  LBFGS(std::initializer_list<Tensor<D, T>> tensors, N lr, CallSite here = {})
      : LBFGS(std::vector<Tensor<D, T>>(tensors), lr, here) {}
  LBFGS(const LBFGS&) = delete;
  LBFGS& operator=(const LBFGS&) = delete;

  double lr() const { return options_.lr; }
  void set_lr(double lr) { options_.lr = lr; }
  /// The number of evaluations of the loss, and of iterations, in all steps together.
  Index evaluations() const { return evaluations_; }
  Index iterations() const { return iterations_; }

  /// The learning rate, the last step and the history, which are enough to continue bit for bit.
  StateDict state_dict() const {
    StateDict dict;
    const auto add = [&](std::initializer_list<tern::detail::Piece> entry, const AnyTensor& x) {
      tern::detail::append(dict, entry, x);
    };
    add({"lr"}, full<Cpu, double>({}, options_.lr));
    add({"step"}, full<Cpu, double>({}, step_));
    add({"scale"}, full<Cpu, double>({}, scale_));
    add({"evaluations"}, full<Cpu, Index>({}, evaluations_));
    add({"iterations"}, full<Cpu, Index>({}, iterations_));
    if (before_.defined()) add({"direction"}, direction_), add({"gradient"}, before_);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      add({"history", Index(i), ".s"}, history_[i].s);
      add({"history", Index(i), ".y"}, history_[i].y);
    }
    return dict;
  }

  /// Restores what state_dict() returned. Error, and nothing changed, if it belongs to other parameters or another
  /// optimiser.
  void load_state_dict(const StateDict& dict, CallSite here = {}) {
    const CallScope scope(here);
    State state = read(dict);
    options_.lr = state.lr, step_ = state.step, scale_ = state.scale;
    evaluations_ = state.evaluations, iterations_ = state.iterations;
    direction_ = state.direction, before_ = state.before, history_ = std::move(state.history);
  }
  /// Error unless load_state_dict() takes the dict.
  void check(const StateDict& dict) const { read(dict); }

  /// Resets all gradients to undefined, or with false to zeros.
  void zero_grad(bool set_to_none = true) {
    for (const Vector& p : parameters_) tern::detail::zero_grad(p.impl()->node, set_to_none);
  }

  /// closure() resets the gradients, computes them again and returns the loss, a tensor or a number. step() returns its
  /// first loss. The host waits for each loss, and for each number that decides how the search goes on.
  template <class F>
  double step(const F& closure, CallSite here = {}) {
    const CallScope scope(here);
    const NoGradGuard off;
    const Index allowed = evaluations_ + options_.max_eval;
    double loss = evaluate(closure);
    const double first_loss = loss;
    Vector gradient = gathered();
    if (largest(gradient) <= options_.tolerance_grad) return first_loss;
    for (Index i = 1; i <= options_.max_iter; ++i) {
      ++iterations_;
      turn(gradient);
      before_ = gradient;
      const double loss_before = loss, derivative = dot(gradient, direction_).item();
      step_ = options_.lr * (iterations_ == 1 ? std::fmin(1, 1 / double(sum(abs(gradient)).item())) : 1);
      if (derivative > -options_.tolerance_change) break;
      const bool last = i == options_.max_iter;
      if (options_.line_search_fn == LineSearch::strong_wolfe) {
        const std::vector<Vector> from = copies();
        const auto point = [&](double t) {
          move(from, t);
          const double f = evaluate(closure);
          const Vector g = gathered();
          return detail::LinePoint<Vector>{t, f, double(dot(g, direction_).item()), g};
        };
        const auto best = detail::strong_wolfe<Vector>({0, loss, derivative, gradient}, step_, largest(direction_),
                                                       allowed - evaluations_, 1e-9, point);
        move(from, best.t);
        step_ = best.t;
        loss = best.f;
        gradient = best.gradient;
      } else {
        move(copies(), step_);
        if (!last) {
          loss = evaluate(closure);
          gradient = gathered();
        }
      }
      if (last || evaluations_ >= allowed || largest(gradient) <= options_.tolerance_grad) break;
      if (largest(direction_) * step_ <= options_.tolerance_change) break;
      if (std::fabs(loss - loss_before) < options_.tolerance_change) break;
    }
    return first_loss;
  }

 private:
  static constexpr const char* name = "LBFGS";

  /// A step s, the change y of the gradient along it, and 1 / y·s.
  struct Change {
    Vector s, y;
    double rho;
  };
  /// What state_dict() has.
  struct State {
    double lr, step, scale;
    Index evaluations, iterations;
    Vector direction, before;
    std::vector<Change> history;
  };
  State read(const StateDict& dict) const {
    detail::StateReader reader("load_state_dict", dict);
    const Vector all = gathered();
    const auto vector = [&](std::initializer_list<tern::detail::Piece> entry) {
      const AnyTensor* const x = reader.find(entry, all);
      return x ? to_device(x->cpu().as<Cpu, T>(), all.device()).clone() : Vector();
    };
    const double lr = reader.number<double>({"lr"}), step = reader.number<double>({"step"}),
                 scale = reader.number<double>({"scale"});
    const Index evaluations = reader.count({"evaluations"}), iterations = reader.count({"iterations"});
    const Vector direction = vector({"direction"}), before = vector({"gradient"});
    std::vector<Change> history;
    for (Index i = 0;; ++i) {
      const Vector y = vector({"history", i, ".y"});
      if (!y.defined()) break;
      const Vector s = vector({"history", i, ".s"});
      history.push_back({s, y, 1 / double(dot(y, s).item())});
    }
    reader.expect_end();
    return {lr, step, scale, evaluations, iterations, direction, before, std::move(history)};
  }

  template <class F>
  double evaluate(const F& closure) {
    const GradMode on(true);
    ++evaluations_;
    const auto loss = closure();
    if constexpr (requires { loss.item(); }) return double(compute_t<T>(loss.item()));
    else return double(loss);
  }

  /// The gradients of all parameters as one vector. A missing gradient counts as zeros.
  Vector gathered() const {
    std::vector<Vector> parts;
    for (const Vector& p : parameters_) {
      const Vector g = p.grad();
      parts.push_back(g.defined() ? g.detach().reshape({p.numel()}) : zeros<D, T>({p.numel()}, p.device()));
    }
    return cat(parts);
  }
  static double largest(const Vector& x) { return double(amax(abs(x)).item()); }

  std::vector<Vector> copies() const {
    std::vector<Vector> from;
    for (const Vector& p : parameters_) from.push_back(p.detach().clone());
    return from;
  }
  /// parameters = from + t direction.
  void move(const std::vector<Vector>& from, double t) {
    Index first = 0;
    for (std::size_t i = 0; i < from.size(); first += from[i++].numel()) {
      const Vector d = direction_.narrow(0, first, from[i].numel()).reshape(from[i].shape());
      parameters_[i].detach().copy_(add(from[i], d, tern::detail::scalar_t<T>(t)));
    }
  }

  /// Adds the last step to the history and computes the direction -H g by the two-loop recursion.
  void turn(const Vector& gradient) {
    if (before_.defined()) {
      const Vector y = gradient - before_, s = direction_ * tern::detail::scalar_t<T>(step_);
      const double ys = dot(y, s).item();
      if (ys > 1e-10) {
        if (Index(history_.size()) == options_.history_size) history_.erase(history_.begin());
        history_.push_back({s, y, 1 / ys});
        scale_ = ys / double(dot(y, y).item());
      }
    }
    Vector q = -gradient;
    std::vector<double> along(history_.size());
    for (std::size_t i = history_.size(); i-- > 0;) {
      along[i] = double(dot(history_[i].s, q).item()) * history_[i].rho;
      q = add(q, history_[i].y, tern::detail::scalar_t<T>(-along[i]));
    }
    q = q * tern::detail::scalar_t<T>(scale_);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const double back = double(dot(history_[i].y, q).item()) * history_[i].rho;
      q = add(q, history_[i].s, tern::detail::scalar_t<T>(along[i] - back));
    }
    direction_ = q;
  }

  LBFGSOptions options_;
  std::vector<Vector> parameters_;
  std::vector<Change> history_;
  Vector direction_, before_;  // before_: the gradient at which the direction was computed
  double step_ = 0, scale_ = 1;
  Index evaluations_ = 0, iterations_ = 0;
};

}}}  // namespace tern::optim
