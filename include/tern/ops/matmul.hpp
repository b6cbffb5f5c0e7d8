// Matrix products: matmul with PyTorch's rules for vectors and batches; mm, bmm, mv and dot, which accept one form
// each; linear.
#pragma once
#include "../backend/matmul.hpp"
#include "../device/events.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// A view of a matrix with rows and columns swapped, not recorded.
TERN_API TensorImpl* transposed(const TensorImpl* a);

/// A batch of matrices broadcast to these batch dimensions, not recorded. It is a copy if no single stride steps
/// through them.
TERN_API TensorImpl* broadcast_matrices(TensorImpl* x, const Shape& batch, const DeviceOps& device);

/// The batch dimensions of a product.
inline Shape batch_of_product(const CallSite& op, const Array& a, const Array& b) {
  return broadcast_shapes(op, {a.dims, a.ndim - 2}, {b.dims, b.ndim - 2});
}

/// [.., m, k] times [.., k, n] with broadcast batch dimensions, plus a row `bias` [n] if given. Not recorded.
template <class D, class T>
Tensor<D, T> product(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b, const Array* bias = nullptr) {
  TensorImpl *const left = a.impl(), *const right = b.impl();
  const Shape batch = batch_of_product(op, *left, *right);
  const Index k = left->dims[left->ndim - 1];
  if (k != right->dims[right->ndim - 2])
    Error::fail(op, {"inner dimensions differ: ", left->shape(), " x ", right->shape()});
  const Owned lefts(left->ndim > 2 ? broadcast_matrices(left, batch, device_ops<D>) : nullptr),
      rights(right->ndim > 2 ? broadcast_matrices(right, batch, device_ops<D>) : nullptr);
  Shape shape = batch;
  shape.push_back(left->dims[left->ndim - 2]);
  shape.push_back(right->dims[right->ndim - 1]);
  // The rows of a batch of matrices are seldom long, and what reads them, such as a softmax, copies rows that have
  // gaps.
  Tensor<D, T> c =
      shape.n == 2 ? Tensor<D, T>(allocate_rows<D, T>(shape, left->ordinal)) : empty<D, T>(shape, a.device());
  count_product(*c.impl(), *left, *right);
  backend::run<D, T>(
      backend::MatMul{*c.impl(), lefts.impl ? *lefts.impl : *left, rights.impl ? *rights.impl : *right, bias});
  return c;
}

TERN_API void check_dims(const CallSite& op, const Array& a, int a_dims, const Array& b, int b_dims);

template <class D, class T>
Tensor<D, T> recorded_product(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b);

/// a b as the gradient of an input of these sizes. If the engine will sum it over a broadcast batch, 16-bit types are
/// rounded once, after the sum.
template <class D, class T>
Tensor<D, T> gradient_product(ShapeRef shape, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  if constexpr (is_half_v<T>) {
    const Shape input(shape.d, shape.n);
    if (!(batch_of_product({"matmul", CallSite::unknown}, *a.impl(), *b.impl()) == Shape(input.d, input.n - 2)))
      return to_type(sum_to(matmul(to_type(a, f32), to_type(b, f32)), input), Type<T>{});
  }
  return recorded_product({"matmul", CallSite::unknown}, a, b);
}

/// The product of matrices, or of batches of matrices, recorded.
template <class D, class T>
Tensor<D, T> recorded_product(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const Tensor<D, T> c = product(op, a, b);
  // dA = dC Bᵀ and dB = Aᵀ dC.
  record(op, c,
         wrt(a, saved(b),
             [](ShapeRef shape, const auto& dc, const auto& right) { return gradient_product(shape, dc, right.mT()); }),
         wrt(b, saved(a),
             [](ShapeRef shape, const auto& dc, const auto& left) { return gradient_product(shape, left.mT(), dc); }));
  return c;
}

}  // namespace detail

/// The product of two matrices, [m, k] x [k, n].
template <Device D, Element T>
Tensor<D, T> mm(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_dims({"mm", here}, *a.checked({"mm", here}), 2, *b.checked({"mm", here}), 2);
  return detail::recorded_product({"mm", here}, a, b);
}

/// The products of the matrices of two batches, [b, m, k] x [b, k, n].
template <Device D, Element T>
Tensor<D, T> bmm(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_dims({"bmm", here}, *a.checked({"bmm", here}), 3, *b.checked({"bmm", here}), 3);
  if (a.size(0) != b.size(0)) Error::fail({"bmm", here}, {"batch sizes differ: ", a.shape(), " x ", b.shape()});
  return detail::recorded_product({"bmm", here}, a, b);
}

/// Matrix times vector, [m, k] x [k].
template <Device D, Element T>
Tensor<D, T> mv(const Tensor<D, T>& a, const Tensor<D, T>& v, CallSite here = {}) {
  const CallScope scope({"mv", here});
  detail::check_dims({"mv", CallSite::unknown}, *a.checked("mv"), 2, *v.checked("mv"), 1);
  return matmul(a, v, here);
}

/// The inner product of two vectors.
template <Device D, Element T>
Tensor<D, T> dot(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_dims({"dot", here}, *a.checked({"dot", here}), 1, *b.checked({"dot", here}), 1);
  if (a.size(0) != b.size(0)) Error::fail({"dot", here}, {"lengths differ: ", a.shape(), " and ", b.shape()});
  return matmul(a, b, here);
}

/// The product of vectors, matrices or batches. A vector on the left is a row, on the right a column; its extra
/// dimension is removed from the result. Dimensions before the last two are batches, and broadcast.
template <Device D, Element T>
Tensor<D, T> matmul(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const int m = a.checked({"matmul", here})->ndim, n = b.checked({"matmul", here})->ndim;
  if (m == 0 || n == 0)
    Error::fail({"matmul", here}, {"a 0-d tensor has no rows or columns: ", a.shape(), " x ", b.shape()});
  if (m == 1 && n == 1 && a.size(0) != b.size(0))
    Error::fail({"matmul", here}, {"inner dimensions differ: ", a.shape(), " x ", b.shape()});
  const bool many_rows = m > 2 && n <= 2;  // one product with many rows
  const Tensor<D, T> left = m == 1 ? unsqueeze(a, 0, here) : many_rows ? flatten(a, 0, -2, here) : a;
  const Tensor<D, T> right = n == 1 ? unsqueeze(b, 1, here) : b;
  const Tensor<D, T> c = detail::recorded_product({"matmul", here}, left, right);
  if (m == 2 && n == 2) return c;
  detail::Shape to = many_rows ? a.shape() : c.shape();
  to[to.n - 1] = c.size(-1);
  if (m == 1) to[to.n - 2] = to[to.n - 1];
  to.n -= (m == 1) + (n == 1);
  return view(c, to, here);
}

namespace detail {
/// Checks the operands of linear. bias may be null.
TERN_API void check_linear(const CallSite& op, const Array& x, const Array& weight, const Array* bias);

/// linear for an x that is not a matrix, or a weight that is a vector.
template <Device D, Element T>
[[gnu::noinline, gnu::cold]] Tensor<D, T> linear_of_rows(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                                                         const Tensor<D, T>& bias, CallSite here) {
  const bool one = weight.dim() == 1;
  Shape to = x.shape();
  --to.n;
  const Tensor<D, T> rows = reshape(x, {to.numel(), weight.size(-1)}, here);
  const Tensor<D, T> y = linear(rows, one ? unsqueeze(weight, 0, here) : weight,
                                one && bias.defined() ? unsqueeze(bias, 0, here) : bias, here);
  if (!one) to.push_back(weight.size(0));
  return view(y, to, here);
}
}  // namespace detail

/// x Wᵀ + b, with x [.., in], W [out, in] and b [out] or undefined. W may be [in] and b 0-d; the result then has no
/// output dimension.
template <Device D, Element T>
Tensor<D, T> linear(const Tensor<D, T>& x, const Tensor<D, T>& weight, const Tensor<D, T>& bias = {},
                    CallSite here = {}) {
  detail::check_linear({"linear", here}, *x.checked({"linear", here}), *weight.checked({"linear", here}), bias.impl());
  if (weight.dim() == 1 || x.dim() != 2) return detail::linear_of_rows(x, weight, bias, here);
  const Tensor<D, T> row = bias.defined() && !bias.is_contiguous() ? detail::dense_copy(bias) : bias;
  const Tensor<D, T> y =
      detail::product({"linear", here}, x, Tensor<D, T>(detail::transposed(weight.impl())), row.impl());
  // dx = g W and dW = gᵀ x.
  const auto dx = wrt(x, saved(weight), [](const auto& g, const auto& w) { return mm(g, w); });
  const auto dw = wrt(weight, saved(x), [](const auto& g, const auto& input) { return mm(g.t(), input); });
  record({"linear", here}, y, dx, dw, wrt(bias, detail::unchanged));
  return y;
}

TERN_SAME_PLACE(matmul)
TERN_SAME_PLACE(mm)
TERN_SAME_PLACE(bmm)
TERN_SAME_PLACE(mv)
TERN_SAME_PLACE(dot)
TERN_SAME_PLACE(linear)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "matmul.ipp"
#endif
