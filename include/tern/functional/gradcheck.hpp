// Compares gradients with finite differences, for authors of ops. It uses double and small inputs, and moves every
// element of every input to both sides.
#pragma once
#include <tuple>

#include "../autograd/backward.hpp"
#include "../ops/support/grad_ops.hpp"
#include "../ops/transfer.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The tolerance of gradcheck: |analytic - numerical| <= atol + rtol |numerical|. The numerical derivative takes steps
/// of eps to both sides.
struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

namespace detail {

template <class D>
using DoubleTensors = std::vector<Tensor<D, double>>;

/// The element at a row-major position, as a 0-d view that is not recorded.
template <class D>
Tensor<D, double> element(const Tensor<D, double>& x, Index position) {
  Tensor<D, double> view = x.detach();
  while (view.dim() > 0) {
    const Index inner = view.numel() / view.size(0);
    view = select(view, 0, position / inner);
    position %= inner;
  }
  return view;
}

/// The elements in row-major order, in the host's memory: one copy instead of one for each.
template <class D>
std::vector<double> host_values(const Tensor<D, double>& x) {
  const auto host = to_device(contiguous(x.detach()), std::conditional_t<HostDevice<D>, D, Cpu>{});
  return {host.data(), host.data() + host.numel()};
}

/// The derivatives of each element of y by each input's elements; none by an input that y does not depend on. A
/// template, so that only programs that check gradients compile its lists.
template <class D>
struct Jacobian {
  std::vector<std::vector<std::vector<double>>> rows;
};

template <class D>
Jacobian<D> analytic_jacobian(const Tensor<D, double>& y, const DoubleTensors<D>& inputs) {
  Jacobian<D> jacobian;
  for (Index k = 0; k < y.numel(); ++k) {
    const Tensor<D, double> one = zeros<D, double>(y.shape(), y.device());
    fill_(element(one, k), 1);
    const auto by_input = grad<D, double>({y}, inputs, {one}, {.retain_graph = true, .allow_unused = true});
    auto& row = jacobian.rows.emplace_back();
    for (const Tensor<D, double>& g : by_input) row.push_back(g.defined() ? host_values(g) : std::vector<double>());
  }
  return jacobian;
}

template <class D, class F>
bool check_gradients(const CallSite& op, const F& f, const DoubleTensors<D>& inputs, const GradcheckOptions& options) {
  DoubleTensors<D> wanted;
  for (const Tensor<D, double>& x : inputs)
    if (x.checked(op)->node) wanted.push_back(x);
  if (wanted.empty()) Error::fail(op, {"no input requires a gradient"});
  const Tensor<D, double> y = f(inputs);
  Jacobian<D> analytic;
  if (y.requires_grad()) analytic = analytic_jacobian(y, wanted);
  else analytic.rows.assign(std::size_t(y.numel()), std::vector<std::vector<double>>(wanted.size()));
  const NoGradGuard off;
  std::size_t column = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    const std::vector<double> values = host_values(inputs[i]);
    for (std::size_t e = 0; e < values.size(); ++e) {
      const Tensor<D, double> moved = element(inputs[i], Index(e));
      fill_(moved, values[e] + options.eps);
      const std::vector<double> above = host_values(f(inputs));
      fill_(moved, values[e] - options.eps);
      const std::vector<double> below = host_values(f(inputs));
      fill_(moved, values[e]);
      for (std::size_t k = 0; k < analytic.rows.size(); ++k) {
        const std::vector<double>& gradient = analytic.rows[k][column];
        const double ours = gradient.empty() ? 0 : gradient[e];
        const double numerical = (above[k] - below[k]) / (2 * options.eps);
        const double difference = ours > numerical ? ours - numerical : numerical - ours;
        const double allowed = options.atol + options.rtol * (numerical > 0 ? numerical : -numerical);
        if (!(difference <= allowed))
          Error::fail(op, {"the derivative of output element ", Index(k), " by element ", Index(e), " of input ",
                           Index(i), " is ", ours, " by the tape, ", numerical, " by finite differences"});
      }
    }
    ++column;
  }
  return true;
}

/// A Tensor<D, double>, or an nn::Parameter, which is one.
template <class X, class D>
concept DoubleTensorOn = std::derived_from<X, Tensor<D, double>>;

/// Turns f of several tensors into a function of a list.
template <class D, class F, std::size_t... I>
auto of_list(const F& f, std::index_sequence<I...>) {
  return [&f](const DoubleTensors<D>& x) { return f(x[I]...); };
}

/// Distinct numbers in [0.5, 1.5), in the shape and on the device of another tensor.
template <class D>
Tensor<D, double> varied_like(const Tensor<D, double>& like) {
  const Tensor<D, double> x = empty<D, double>(like.shape(), like.device());
  for (Index k = 0; k < x.numel(); ++k) fill_(element(x, k), 0.5 + double(k * 5741 % 9973) / 9973);
  return x;
}

}  // namespace detail

/// True if the gradients of f at the inputs that require one agree with finite differences. Otherwise an Error that
/// names input, element and both values. f takes a list of tensors and returns a tensor.
template <Device D, class F>
  requires std::is_invocable_v<const F&, const std::vector<Tensor<D, double>>&>
bool gradcheck(const F& f, const std::vector<Tensor<D, double>>& inputs, GradcheckOptions options = {},
               CallSite here = {}) {
  return detail::check_gradients({"gradcheck", here}, f, inputs, options);
}

/// The same for f(x, y, ...): gradcheck(f, {x, y}), or std::tuple{x, y}.
template <class F, class First, detail::DoubleTensorOn<typename First::device_type>... X>
  requires detail::DoubleTensorOn<First, typename First::device_type>
bool gradcheck(const F& f, const std::tuple<First, X...>& inputs, GradcheckOptions options = {}, CallSite here = {}) {
  using D = typename First::device_type;
  const auto list = std::apply([](const auto&... x) { return detail::DoubleTensors<D>{x...}; }, inputs);
  return gradcheck(detail::of_list<D>(f, std::make_index_sequence<1 + sizeof...(X)>{}), list, options, here);
}
template <class F, Device D, std::size_t N>
bool gradcheck(const F& f, const Tensor<D, double> (&inputs)[N], GradcheckOptions options = {}, CallSite here = {}) {
  return gradcheck(detail::of_list<D>(f, std::make_index_sequence<N>{}), std::vector(inputs, inputs + N), options,
                   here);
}
/// The same for f(x).
template <class F, Device D>
bool gradcheck(const F& f, const Tensor<D, double>& input, GradcheckOptions options = {}, CallSite here = {}) {
  return gradcheck(f, std::tuple<Tensor<D, double>>(input), options, here);
}

/// gradcheck of the gradients themselves. It tests that f can be differentiated twice.
template <Device D, class F>
  requires std::is_invocable_v<const F&, const std::vector<Tensor<D, double>>&>
bool gradgradcheck(const F& f, std::vector<Tensor<D, double>> inputs, GradcheckOptions options = {},
                   CallSite here = {}) {
  const std::size_t count = inputs.size();
  inputs.push_back(detail::varied_like(f(inputs)).requires_grad_());
  for (std::size_t i = 0; i < count; ++i) {
    if (!inputs[i].requires_grad()) continue;
    const auto gradient = [&](const std::vector<Tensor<D, double>>& x) {
      const GradMode on(true);
      const Tensor<D, double> y = f({x.begin(), x.end() - 1});
      const auto g = grad<D, double>({y}, {x[i]}, {x.back()}, {.create_graph = true, .allow_unused = true});
      return g[0].defined() ? g[0] : zeros_like(x[i]);
    };
    detail::check_gradients({"gradgradcheck", here}, gradient, inputs, options);
  }
  return true;
}
template <class F, class First, detail::DoubleTensorOn<typename First::device_type>... X>
  requires detail::DoubleTensorOn<First, typename First::device_type>
bool gradgradcheck(const F& f, const std::tuple<First, X...>& inputs, GradcheckOptions options = {},
                   CallSite here = {}) {
  using D = typename First::device_type;
  const auto list = std::apply([](const auto&... x) { return detail::DoubleTensors<D>{x...}; }, inputs);
  return gradgradcheck(detail::of_list<D>(f, std::make_index_sequence<1 + sizeof...(X)>{}), list, options, here);
}
template <class F, Device D, std::size_t N>
bool gradgradcheck(const F& f, const Tensor<D, double> (&inputs)[N], GradcheckOptions options = {},
                   CallSite here = {}) {
  return gradgradcheck(detail::of_list<D>(f, std::make_index_sequence<N>{}), std::vector(inputs, inputs + N), options,
                       here);
}
template <class F, Device D>
bool gradgradcheck(const F& f, const Tensor<D, double>& input, GradcheckOptions options = {}, CallSite here = {}) {
  return gradgradcheck(f, std::tuple<Tensor<D, double>>(input), options, here);
}

namespace autograd {
using tern::gradcheck;
using tern::gradgradcheck;
}  // namespace autograd

}}  // namespace tern
