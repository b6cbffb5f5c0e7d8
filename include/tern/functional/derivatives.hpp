// Products with Jacobians and Hessians, and the whole matrices: torch.autograd.functional. f is a function of one
// tensor or of a std::vector of tensors. For a vector, v and the result are vectors too. Where PyTorch's function also
// returns f's value, this one does.
#pragma once
#include <utility>
#include <vector>

#include "../autograd/backward.hpp"
#include "../tensor/creation.hpp"
#include "../ops/cat.hpp"
#include "../ops/support/grad_ops.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The options of the functions below.
struct DerivativeOptions {
  bool create_graph = false;  // makes the result differentiable
};

namespace detail {

template <class D, class T>
using Tensors = std::vector<Tensor<D, T>>;

/// The inputs that f is called with: leaves of a new graph, or, if linked, tensors on the graph that they already
/// belong to.
template <class D, class T>
Tensors<D, T> watched_inputs(const char* op, const Tensors<D, T>& inputs, bool linked) {
  if (inputs.empty()) Error::fail(op, {"there are no inputs"});
  Tensors<D, T> leaves;
  for (const Tensor<D, T>& x : inputs) {
    x.checked(op);
    if (linked && x.requires_grad())
      leaves.push_back(view(x, x.shape()));  // a view each, so that an input given twice counts as two
    else leaves.push_back(x.detach().requires_grad_());
  }
  return leaves;
}

/// grad() for outputs that may not depend on every input. The missing gradients are zeros.
template <class D, class T>
Tensors<D, T> grad_or_zeros(const Tensor<D, T>& y, const Tensors<D, T>& inputs, const Tensor<D, T>& v,
                            bool create_graph) {
  Tensors<D, T> gradients(inputs.size());
  if (y.requires_grad())
    gradients =
        grad<D, T>({y}, inputs, {v}, {.retain_graph = true, .create_graph = create_graph, .allow_unused = true});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros<D, T>(inputs[i].shape(), inputs[i].device());
  return gradients;
}

template <class D, class T>
Tensor<D, T> finished(const Tensor<D, T>& x, bool create_graph) {
  return create_graph ? x : x.detach();
}
template <class D, class T>
Tensors<D, T> finished(const Tensors<D, T>& list, bool create_graph) {
  Tensors<D, T> out;
  for (const Tensor<D, T>& x : list) out.push_back(finished(x, create_graph));
  return out;
}

template <class D, class T>
void check_vectors(const char* op, const Tensors<D, T>& inputs, const Tensors<D, T>& v) {
  if (inputs.size() != v.size()) Error::fail(op, {Index(v.size()), " vectors for ", Index(inputs.size()), " inputs"});
  for (std::size_t i = 0; i < v.size(); ++i)
    if (!(v[i].checked(op)->shape() == inputs[i].shape()))
      Error::fail(op, {"vector ", Index(i), " has shape ", v[i].shape(), ", the input ", inputs[i].shape()});
}

template <class D, class T>
void check_scalar(const char* op, const Tensor<D, T>& y) {
  if (y.checked(op)->numel != 1)
    Error::fail(op, {"the function must give one number, not a tensor of shape ", y.shape()});
}

/// The gradient of each of y's elements, [y's shape..., input's shape...].
template <class D, class T>
Tensors<D, T> jacobian_of(const Tensor<D, T>& y, const Tensors<D, T>& inputs, bool create_graph) {
  std::vector<Tensors<D, T>> rows(inputs.size());
  for (Index k = 0; k < y.numel(); ++k) {
    const Tensor<D, T> one = zeros<D, T>({y.numel()}, y.device());
    one.narrow(0, k, 1).fill_(1);
    const Tensors<D, T> gradients = grad_or_zeros(y, inputs, one.view(y.shape()), create_graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) rows[i].push_back(gradients[i]);
  }
  Tensors<D, T> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Shape shape = y.shape();
    for (int d = 0; d < inputs[i].dim(); ++d) shape.push_back(inputs[i].size(d));
    out.push_back(rows[i].empty() ? zeros<D, T>(shape, y.device()) : stack(rows[i]).view(shape));
  }
  return out;
}

/// The sum of a[i] · v[i].
template <class D, class T>
Tensor<D, T> dots(const Tensors<D, T>& a, const Tensors<D, T>& v) {
  Tensor<D, T> total = sum(a[0] * v[0]);
  for (std::size_t i = 1; i < a.size(); ++i) total = total + sum(a[i] * v[i]);
  return total;
}

template <class D, class T, class F>
std::pair<Tensor<D, T>, Tensors<D, T>> hessian_product(const char* op, const F& f, const Tensors<D, T>& inputs,
                                                       const Tensors<D, T>& v, DerivativeOptions options,
                                                       CallSite here) {
  const CallScope scope(here);
  const GradMode on(true);
  check_vectors(op, inputs, v);
  const auto x = watched_inputs(op, inputs, options.create_graph);
  const Tensor<D, T> y = f(x);
  check_scalar(op, y);
  const auto gradients = grad_or_zeros(y, x, ones<D, T>(y.shape(), y.device()), true);
  const auto products = grad_or_zeros(dots(gradients, v), x, ones<D, T>({}, y.device()), options.create_graph);
  return {finished(y, options.create_graph), finished(products, options.create_graph)};
}

/// Turns f of one tensor into a function of a list.
template <class F>
auto of_first(const F& f) {
  return [&f](const auto& list) { return f(list[0]); };
}

}  // namespace detail

/// {f(x), vᵀ J}: the gradient of f at x in the direction v of its output.
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, std::vector<Tensor<D, T>>> vjp(const F& f, const std::vector<Tensor<D, T>>& inputs,
                                                       const Tensor<D, T>& v, DerivativeOptions options = {},
                                                       CallSite here = {}) {
  const CallScope scope(here);
  const GradMode on(true);
  const auto x = detail::watched_inputs("vjp", inputs, options.create_graph);
  const Tensor<D, T> y = f(x);
  if (!(v.checked("vjp")->shape() == y.shape()))
    Error::fail("vjp", {"the vector has shape ", v.shape(), ", the output ", y.shape()});
  const auto products = detail::grad_or_zeros(y, x, v, options.create_graph);
  return {detail::finished(y, options.create_graph), detail::finished(products, options.create_graph)};
}

/// {f(x), J v}: the derivative of f at x in the direction v. Calculated as a gradient of a gradient, because vᵀ J is
/// linear in v.
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, Tensor<D, T>> jvp(const F& f, const std::vector<Tensor<D, T>>& inputs,
                                          const std::vector<Tensor<D, T>>& v, DerivativeOptions options = {},
                                          CallSite here = {}) {
  const CallScope scope(here);
  const GradMode on(true);
  detail::check_vectors("jvp", inputs, v);
  const auto x = detail::watched_inputs("jvp", inputs, options.create_graph);
  const Tensor<D, T> y = f(x);
  const auto u = zeros<D, T>(y.shape(), y.device()).requires_grad_();
  const auto products = detail::grad_or_zeros(y, x, u, true);
  const auto derivative =
      detail::grad_or_zeros(detail::dots(products, v), {u}, ones<D, T>({}, y.device()), options.create_graph)[0];
  return {detail::finished(y, options.create_graph), detail::finished(derivative, options.create_graph)};
}

/// {f(x), H v}, where f has one number as its result.
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, std::vector<Tensor<D, T>>> hvp(const F& f, const std::vector<Tensor<D, T>>& inputs,
                                                       const std::vector<Tensor<D, T>>& v,
                                                       DerivativeOptions options = {}, CallSite here = {}) {
  return detail::hessian_product("hvp", f, inputs, v, options, here);
}

/// {f(x), vᵀ H}, which equals {f(x), H v}, because a Hessian is symmetric.
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, std::vector<Tensor<D, T>>> vhp(const F& f, const std::vector<Tensor<D, T>>& inputs,
                                                       const std::vector<Tensor<D, T>>& v,
                                                       DerivativeOptions options = {}, CallSite here = {}) {
  return detail::hessian_product("vhp", f, inputs, v, options, here);
}

/// ∂f/∂x for each input x, of shape [f's shape..., x's shape...].
template <Device D, Element T, class F>
std::vector<Tensor<D, T>> jacobian(const F& f, const std::vector<Tensor<D, T>>& inputs, DerivativeOptions options = {},
                                   CallSite here = {}) {
  const CallScope scope(here);
  const GradMode on(true);
  const auto x = detail::watched_inputs("jacobian", inputs, options.create_graph);
  return detail::finished(detail::jacobian_of<D, T>(f(x), x, options.create_graph), options.create_graph);
}

/// ∂²f/∂x∂z for each pair of inputs, of shape [x's shape..., z's shape...]. f has one number as its result.
template <Device D, Element T, class F>
std::vector<std::vector<Tensor<D, T>>> hessian(const F& f, const std::vector<Tensor<D, T>>& inputs,
                                               DerivativeOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  const GradMode on(true);
  const auto x = detail::watched_inputs("hessian", inputs, options.create_graph);
  const Tensor<D, T> y = f(x);
  detail::check_scalar("hessian", y);
  std::vector<std::vector<Tensor<D, T>>> rows;
  for (const Tensor<D, T>& gradient : detail::grad_or_zeros(y, x, ones<D, T>(y.shape(), y.device()), true))
    rows.push_back(detail::finished(detail::jacobian_of(gradient, x, options.create_graph), options.create_graph));
  return rows;
}

// The same for f of one tensor.

template <Device D, Element T, class F>
std::pair<Tensor<D, T>, Tensor<D, T>> vjp(const F& f, const Tensor<D, T>& x, const Tensor<D, T>& v,
                                          DerivativeOptions options = {}, CallSite here = {}) {
  auto [y, products] = vjp(detail::of_first(f), std::vector{x}, v, options, here);
  return {y, products[0]};
}
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, Tensor<D, T>> jvp(const F& f, const Tensor<D, T>& x, const Tensor<D, T>& v,
                                          DerivativeOptions options = {}, CallSite here = {}) {
  return jvp(detail::of_first(f), std::vector{x}, std::vector{v}, options, here);
}
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, Tensor<D, T>> hvp(const F& f, const Tensor<D, T>& x, const Tensor<D, T>& v,
                                          DerivativeOptions options = {}, CallSite here = {}) {
  auto [y, products] = hvp(detail::of_first(f), std::vector{x}, std::vector{v}, options, here);
  return {y, products[0]};
}
template <Device D, Element T, class F>
std::pair<Tensor<D, T>, Tensor<D, T>> vhp(const F& f, const Tensor<D, T>& x, const Tensor<D, T>& v,
                                          DerivativeOptions options = {}, CallSite here = {}) {
  auto [y, products] = vhp(detail::of_first(f), std::vector{x}, std::vector{v}, options, here);
  return {y, products[0]};
}
template <Device D, Element T, class F>
Tensor<D, T> jacobian(const F& f, const Tensor<D, T>& x, DerivativeOptions options = {}, CallSite here = {}) {
  return jacobian(detail::of_first(f), std::vector{x}, options, here)[0];
}
template <Device D, Element T, class F>
Tensor<D, T> hessian(const F& f, const Tensor<D, T>& x, DerivativeOptions options = {}, CallSite here = {}) {
  return hessian(detail::of_first(f), std::vector{x}, options, here)[0][0];
}

namespace autograd::functional {
using tern::hessian;
using tern::hvp;
using tern::jacobian;
using tern::jvp;
using tern::vhp;
using tern::vjp;
}  // namespace autograd::functional

}}  // namespace tern
