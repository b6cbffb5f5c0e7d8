// Matrix products: matmul with PyTorch's rules for vectors and batches, its strict forms mm, bmm, mv and dot, and
// linear.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../backend/matmul.hpp"
#include "../device/events.hpp"
#include "views.hpp"

namespace tern::inline TERN_BUILD {
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

/// A factor as a kernel takes it: [.., rows, columns] broadcast to a batch that is walked with one stride.
struct ProductFactor {
  Owned held;
  Index row, column, batch = 0;
  const char* data;

  ProductFactor(TensorImpl* x, const Shape& batches, const DeviceOps& device) : held(x) {
    retain(x);
    if (x->ndim > 2) walk(batches, device);
    const Array& a = *held.impl;
    row = a.strides[a.ndim - 2], column = a.strides[a.ndim - 1], data = a.data;
  }

 private:
  [[gnu::noinline, gnu::cold]] void walk(Shape shape, const DeviceOps& device) {
    const NoGradGuard off;
    shape.push_back(held.impl->dims[held.impl->ndim - 2]);
    shape.push_back(held.impl->dims[held.impl->ndim - 1]);
    Owned whole(expanded(held.impl, shape));
    if (!one_batch_stride(*whole.impl, batch)) {
      Owned dense(copied(device, whole.impl));
      std::swap(whole.impl, dense.impl);
      one_batch_stride(*whole.impl, batch);
    }
    std::swap(held.impl, whole.impl);
  }
};

/// A product's sizes.
struct ProductSizes {
  Index m, n, k;
  Shape batches;

  ProductSizes(const char* op, const Array& a, const Array& b)
      : m(a.dims[a.ndim - 2]),
        n(b.dims[b.ndim - 1]),
        k(a.dims[a.ndim - 1]),
        batches(broadcast_shapes(op, {a.dims, a.ndim - 2}, {b.dims, b.ndim - 2})) {
    if (k != b.dims[b.ndim - 2]) fail(op, {"inner dimensions differ: ", a.shape(), " x ", b.shape()});
  }
};

/// [.., m, k] times [.., k, n], batch dimensions broadcast; row bias added if given. Off the tape.
template <class D, class T>
Tensor<D, T> product(const char* op, const Tensor<D, T>& a, const Tensor<D, T>& b, const T* bias = nullptr) {
  const ProductSizes sizes(op, *a.impl(), *b.impl());
  const ProductFactor left(a.impl(), sizes.batches, device_ops<D>), right(b.impl(), sizes.batches, device_ops<D>);
  Shape shape = sizes.batches;
  shape.push_back(sizes.m);
  shape.push_back(sizes.n);
  Tensor<D, T> c = empty<D, T>(shape, a.device());
  backend::MatMul<T> p{.batch = sizes.batches.numel(), .m = sizes.m, .n = sizes.n, .k = sizes.k};
  p.ordinal = c.impl()->ordinal;
  p.a = reinterpret_cast<const T*>(left.data), p.a_row = left.row, p.a_col = left.column, p.a_batch = left.batch;
  p.b = reinterpret_cast<const T*>(right.data), p.b_row = right.row, p.b_col = right.column, p.b_batch = right.batch;
  p.c = c.impl()->template as<T>(), p.c_row = p.n, p.c_batch = p.m * p.n;
  p.bias = bias;
  ++device_events.products;
  device_events.flops += 2.0 * double(p.batch) * double(p.m) * double(p.n) * double(p.k);
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

/// a b as the gradient of an input of these sizes: where it will be summed over a batch that was broadcast, 16-bit types are rounded
/// once, after it.
template <class D, class T>
Tensor<D, T> gradient_product(ShapeRef shape, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  if constexpr (is_half_v<T>) {
    const Shape input(shape.d, shape.n);
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
  record(op, c, wrt(a, saved(b), [](ShapeRef shape, const auto& dc, const auto& kept) { return gradient_product(shape, dc, kept.mT()); }),
         wrt(b, saved(a), [](ShapeRef shape, const auto& dc, const auto& kept) { return gradient_product(shape, kept.mT(), dc); }));
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
  if (m == 1 && n == 1 && a.size(0) != b.size(0))
    fail("matmul", {"inner dimensions differ: ", a.shape(), " x ", b.shape()});
  const bool many_rows = m > 2 && n <= 2;  // one product with many rows
  const Tensor<D, T> left = m == 1 ? unsqueeze(a, 0, here) : many_rows ? flatten(a, 0, -2, here) : a;
  const Tensor<D, T> right = n == 1 ? unsqueeze(b, 1, here) : b;
  const Tensor<D, T> c = detail::recorded_product({"matmul", here}, left, right);
  if (m == 2 && n == 2) return c;
  Shape to = many_rows ? a.shape() : c.shape();
  to[to.n - 1] = c.size(-1);
  if (m == 1) to[to.n - 2] = to[to.n - 1];
  to.n -= (m == 1) + (n == 1);
  return view(c, to, here);
}

namespace detail {
/// Checks the operands of linear. bias may be null.
[[gnu::noinline, gnu::cold]] inline void check_linear(const Array& x, const Array& weight, const Array* bias) {
  const int n = weight.ndim;
  if (n < 1 || n > 2 || x.ndim == 0 || x.dims[x.ndim - 1] != weight.dims[n - 1])
    fail("linear", {"input ", x.shape(), " does not fit weight ", weight.shape()});
  if (bias && !(bias->shape() == Shape(weight.dims, n - 1)))
    fail("linear", {"bias ", bias->shape(), " does not fit weight ", weight.shape()});
}

/// linear where x is not a matrix, or the weight a vector.
template <Device D, Element T>
[[gnu::noinline, gnu::cold]] Tensor<D, T> linear_of_rows(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                                                         const Tensor<D, T>& bias, Here here) {
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

/// x Wᵀ + b: x is [.., in], W [out, in], b [out] or undefined. A weight of one dimension, [in], is one row without that
/// of the output; its bias is 0-d.
template <Device D, Element T>
Tensor<D, T> linear(const Tensor<D, T>& x, const Tensor<D, T>& weight, const Tensor<D, T>& bias = {}, Here here = {}) {
  detail::check_linear(*x.checked("linear"), *weight.checked("linear"), bias.impl());
  if (weight.dim() == 1 || x.dim() != 2) return detail::linear_of_rows(x, weight, bias, here);
  const Tensor<D, T> row = bias.defined() && !bias.is_contiguous() ? detail::dense_copy(bias) : bias;
  const Tensor<D, T> y = detail::product("linear", x, Tensor<D, T>(detail::transposed(weight.impl())),
                                         row.defined() ? row.impl()->template as<const T>() : nullptr);
  // dx = g W and dW = gᵀ x.
  const auto dx = wrt(x, saved(weight), [](const auto& g, const auto& w) { return mm(g, w); });
  const auto dw = wrt(weight, saved(x), [](const auto& g, const auto& input) { return mm(g.t(), input); });
  record({"linear", here}, y, dx, dw, wrt(bias, detail::unchanged));
  return y;
}

TERN_INSTANCE(Tensor<Cpu> linear(const Tensor<Cpu>&, const Tensor<Cpu>&, const Tensor<Cpu>&, Here))
TERN_INSTANCE(Tensor<Cuda> linear(const Tensor<Cuda>&, const Tensor<Cuda>&, const Tensor<Cuda>&, Here))
TERN_INSTANCE(Tensor<Cpu> matmul(const Tensor<Cpu>&, const Tensor<Cpu>&, Here))
TERN_INSTANCE(Tensor<Cuda> matmul(const Tensor<Cuda>&, const Tensor<Cuda>&, Here))

TERN_SAME_PLACE(matmul)
TERN_SAME_PLACE(mm)
TERN_SAME_PLACE(bmm)
TERN_SAME_PLACE(mv)
TERN_SAME_PLACE(dot)
TERN_SAME_PLACE(linear)

}  // namespace tern
