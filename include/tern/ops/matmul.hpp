// Matrix products: matmul with PyTorch's rules for vectors and batches, its strict forms mm, bmm, mv and dot, and
// linear.
#pragma once
#include "../backend/matmul.hpp"
#include "../device/events.hpp"
#include "views.hpp"

namespace tern {
namespace detail {

/// The steps from one matrix of a batch to the next, if all batch dimensions (those before the last two) can be walked
/// with one.
inline bool one_batch_stride(const Array& a, Index& stride) {
  stride = 0;
  Index count = 1;  // matrices in the dimensions passed so far, the innermost first
  for (int i = a.ndim - 2; i-- > 0;) {
    if (a.dims[i] == 1) continue;
    if (count == 1) stride = a.strides[i];
    else if (a.strides[i] != stride * count) return false;
    count *= a.dims[i];
  }
  return true;
}

/// A matrix's header with rows and columns swapped, off the tape.
inline TensorImpl* transposed(const TensorImpl* a) {
  TensorImpl* const p = new_detached(a);
  std::swap(p->dims[0], p->dims[1]);
  std::swap(p->strides[0], p->strides[1]);
  update_contiguous(*p);
  return p;
}

/// Matrices whose batch can be walked with one stride.
template <class D, class T>
Tensor<D, T> with_one_batch_stride(const Tensor<D, T>& x, Index& stride) {
  if (one_batch_stride(*x.impl(), stride)) return x;
  const Tensor<D, T> y = dense_copy(x, false);
  one_batch_stride(*y.impl(), stride);
  return y;
}

/// [.., m, k] times [.., k, n], batch dimensions broadcast; row bias added if given. Off the tape.
template <class D, class T>
Tensor<D, T> product(const char* op, const Tensor<D, T>& a, const Tensor<D, T>& b, const Tensor<D, T>& bias = {}) {
  const Array &x = *a.impl(), &y = *b.impl();
  const Index m = x.dims[x.ndim - 2], k = x.dims[x.ndim - 1], n = y.dims[y.ndim - 1];
  if (k != y.dims[y.ndim - 2]) fail(op, {"inner dimensions differ: ", x.shape(), " x ", y.shape()});
  Shape batch = broadcast_shapes(op, {x.dims, x.ndim - 2}, {y.dims, y.ndim - 2});
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Tensor<D, T> c = empty<D, T>(shape);
  backend::MatMul<T> p{.batch = batch.numel(), .m = m, .n = n, .k = k};
  const auto matrices = [&](const Tensor<D, T>& t, Index& stride) {
    if (t.dim() == 2) return t;
    Shape to = batch;
    to.push_back(t.size(-2));
    to.push_back(t.size(-1));
    const NoGradGuard off;
    return with_one_batch_stride(t.shape() == to ? t : Tensor<D, T>(expanded(t.impl(), to)), stride);
  };
  const Tensor<D, T> left = matrices(a, p.a_batch), right = matrices(b, p.b_batch);
  const Array &l = *left.impl(), &r = *right.impl();
  p.a = l.template as<T>(), p.a_row = l.strides[l.ndim - 2], p.a_col = l.strides[l.ndim - 1];
  p.b = r.template as<T>(), p.b_row = r.strides[r.ndim - 2], p.b_col = r.strides[r.ndim - 1];
  p.c = c.impl()->template as<T>(), p.c_row = n, p.c_batch = m * n;
  if (bias.defined()) p.bias = bias.impl()->template as<T>();
  device_events.flops += 2.0 * double(p.batch) * double(m) * double(n) * double(k);
  backend::matmul(D{}, p);
  return c;
}

[[gnu::noinline, gnu::cold]] inline void check_dims(const char* op, const Array& a, int a_dims, const Array& b,
                                                    int b_dims) {
  if (a.ndim != a_dims || b.ndim != b_dims)
    fail(op, {Index(a_dims), "-d and ", Index(b_dims), "-d tensors are needed, not ", a.shape(), " and ", b.shape()});
}

template <class D, class T>
Tensor<D, T> recorded_product(const OpName& op, const Tensor<D, T>& a, const Tensor<D, T>& b);

/// a b as a gradient: where it will be summed over a batch that was broadcast, 16-bit types are rounded once, after it.
template <class D, class T>
Tensor<D, T> gradient_product(const Tensor<D, T>& a, const Tensor<D, T>& b) {
  if constexpr (is_half_v<T>) {
    const Shape input(tape.input_shape.d, tape.input_shape.n);
    if (!(broadcast_shapes("matmul", {a.impl()->dims, a.dim() - 2}, {b.impl()->dims, b.dim() - 2}) ==
          Shape(input.d, input.n - 2)))
      return to_type(sum_to(matmul(to_type(a, f32), to_type(b, f32)), input), Type<T>{});
  }
  return recorded_product({"matmul", {}}, a, b);
}

/// The product of matrices or of batches of them, on the tape.
template <class D, class T>
Tensor<D, T> recorded_product(const OpName& op, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const Tensor<D, T> c = product(op.name, a, b);
  // dA = dC Bᵀ and dB = Aᵀ dC.
  record(op, c, wrt(a, saved(b), [](const auto& dc, const auto& kept) { return gradient_product(dc, kept.mT()); }),
         wrt(b, saved(a), [](const auto& dc, const auto& kept) { return gradient_product(kept.mT(), dc); }));
  return c;
}

}  // namespace detail

/// The product of two matrices, [m, k] x [k, n].
template <Device D, Element T>
Tensor<D, T> mm(const Tensor<D, T>& a, const Tensor<D, T>& b, Here here = {}) {
  detail::check_dims("mm", *a.checked("mm"), 2, *b.checked("mm"), 2);
  return detail::recorded_product({"mm", here}, a, b);
}

/// The products of the matrices of two batches, [b, m, k] x [b, k, n].
template <Device D, Element T>
Tensor<D, T> bmm(const Tensor<D, T>& a, const Tensor<D, T>& b, Here here = {}) {
  detail::check_dims("bmm", *a.checked("bmm"), 3, *b.checked("bmm"), 3);
  if (a.size(0) != b.size(0)) fail("bmm", {"batch sizes differ: ", a.shape(), " x ", b.shape()});
  return detail::recorded_product({"bmm", here}, a, b);
}

/// Matrix times vector, [m, k] x [k].
template <Device D, Element T>
Tensor<D, T> mv(const Tensor<D, T>& a, const Tensor<D, T>& v, Here here = {}) {
  const ErrorName name("mv");
  detail::check_dims("mv", *a.checked("mv"), 2, *v.checked("mv"), 1);
  return matmul(a, v, here);
}

/// The inner product of two vectors.
template <Device D, Element T>
Tensor<D, T> dot(const Tensor<D, T>& a, const Tensor<D, T>& b, Here here = {}) {
  detail::check_dims("dot", *a.checked("dot"), 1, *b.checked("dot"), 1);
  if (a.size(0) != b.size(0)) fail("dot", {"lengths differ: ", a.shape(), " and ", b.shape()});
  return matmul(a, b, here);
}

/// Vectors, matrices and batches: a vector on the left is a row, on the right a column, and that dimension is dropped
/// from the result; dimensions before the last two are batches and broadcast.
template <Device D, Element T>
Tensor<D, T> matmul(const Tensor<D, T>& a, const Tensor<D, T>& b, Here here = {}) {
  const int m = a.checked("matmul")->ndim, n = b.checked("matmul")->ndim;
  if (m == 0 || n == 0) fail("matmul", {"a 0-d tensor has no rows or columns: ", a.shape(), " x ", b.shape()});
  if (m == 1 && n == 1) {
    if (a.size(0) != b.size(0)) fail("matmul", {"inner dimensions differ: ", a.shape(), " x ", b.shape()});
    return view(matmul(unsqueeze(a, 0, here), unsqueeze(b, 1, here), here), {}, here);
  }
  if (m == 1) return squeeze(matmul(unsqueeze(a, 0, here), b, here), -2, here);
  if (n == 1) return squeeze(matmul(a, unsqueeze(b, 1, here), here), -1, here);
  if (m > 2 && n == 2) {  // one product with many rows
    Shape to = a.shape();
    const Tensor<D, T> c = detail::recorded_product({"matmul", here}, flatten(a, 0, -2, here), b);
    to[m - 1] = b.size(1);
    return view(c, to, here);
  }
  return detail::recorded_product({"matmul", here}, a, b);
}

/// x Wᵀ + b: x is [.., in], W [out, in], b [out] or undefined. A weight of one dimension, [in], is one row without that
/// of the output; its bias is 0-d.
template <Device D, Element T>
Tensor<D, T> linear(const Tensor<D, T>& x, const Tensor<D, T>& weight, const Tensor<D, T>& bias = {}, Here here = {}) {
  x.checked("linear"), weight.checked("linear");
  if (weight.dim() == 1) {
    const Tensor<D, T> row_bias = bias.defined() ? unsqueeze(bias, 0, here) : bias;
    return squeeze(linear(x, unsqueeze(weight, 0, here), row_bias, here), -1, here);
  }
  if (weight.dim() != 2 || x.dim() == 0 || x.size(-1) != weight.size(1))
    fail("linear", {"input ", x.shape(), " does not fit weight ", weight.shape()});
  if (bias.defined() && !(bias.shape() == Shape{weight.size(0)}))
    fail("linear", {"bias ", bias.shape(), " does not fit weight ", weight.shape()});
  if (x.dim() != 2) {
    Shape to = x.shape();
    to[to.n - 1] = 1;
    const Index rows = to.numel();
    to[to.n - 1] = weight.size(0);
    return view(linear(reshape(x, {rows, weight.size(1)}, here), weight, bias, here), to, here);
  }
  const Tensor<D, T> row = bias.defined() && !bias.is_contiguous() ? detail::dense_copy(bias, false) : bias;
  const Tensor<D, T> y = detail::product("linear", x, Tensor<D, T>(detail::transposed(weight.impl())), row);
  // dx = g W and dW = gᵀ x.
  const auto dx = wrt(x, saved(weight), [](const auto& g, const auto& w) { return mm(g, w); });
  const auto dw = wrt(weight, saved(x), [](const auto& g, const auto& input) { return mm(g.t(), input); });
  if (bias.defined()) record({"linear", here}, y, dx, dw, wrt(bias, [](const auto& g) { return g; }));
  else record({"linear", here}, y, dx, dw);
  return y;
}

TERN_SAME_PLACE(matmul)
TERN_SAME_PLACE(mm)
TERN_SAME_PLACE(bmm)
TERN_SAME_PLACE(mv)
TERN_SAME_PLACE(dot)
TERN_SAME_PLACE(linear)

}  // namespace tern
