// The matrix product on the CPU. float: plain loops where small, else oneDNN; bfloat16: oneDNN where the processor has
// AVX-512, else, and half, by way of float; double and integers: loops of our own.
#pragma once
#include "../../core/parallel.hpp"
#include "../../device/device.hpp"
#include "blocked_matmul.hpp"
#include "onednn.hpp"
#include "small_matmul.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace matmul_detail {

/// Multiplications up to which plain loops are the fastest, and up to which one thread is.
inline constexpr Index small_work = 4096, serial_work = 65536;

template <class T>
Index work(const MatMul<T>& p) {
  return p.m * p.n * p.k;
}

template <class T>
int useful_threads(const MatMul<T>& p) {
  return work(p) <= serial_work ? 1 : num_threads();
}

/// A factor as oneDNN takes it: one stride is 1, the other at least the size it steps over.
struct Factor {
  Index rows, columns, row, column;
  bool transposed() const { return column != 1; }
  bool dense() const { return column == 1 ? row >= columns : row == 1 && column >= rows; }
  Index leading() const { return transposed() ? column : row; }
};
inline Factor factor(Index rows, Index columns, Index row, Index column) {
  if (columns == 1 && (column != 1 || row < 1)) column = row == 1 && rows > 1 ? rows : 1;
  if (rows == 1 && (row != 1 || column < 1)) row = column == 1 && columns > 1 ? columns : 1;
  if (rows == 1 && columns == 1) row = column = 1;
  return {rows, columns, row, column};
}

/// Copies a strided matrix, as float, to dense rows.
template <class T>
void copy_dense(Index rows, Index columns, const T* from, Index row, Index column, float* to) {
  parallel_for(rows, std::max<Index>(1, 16384 / columns), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < columns; ++j) to[i * columns + j] = from[i * row + j * column];
  });
}

/// epilogue(c + bias), where sums holds the product so far (c itself, it may be).
template <class T, class S>
void finish(MatMul<T> p, const S* sums, Index sums_row) {
  parallel_for(p.m, std::max<Index>(1, 16384 / p.n), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) store(p, i, 0, p.n, sums + i * sums_row);
  });
}

/// epilogue(c + bias) in place.
template <class T>
void finish(MatMul<T> p) {
  p.accumulate = false;
  if (p.bias || p.epilogue != Epilogue::none) finish(p, p.c, p.c_row);
}

/// Runs p as a oneDNN primitive, one matrix of the batch; false if there is none for it. oneDNN's relu turns a NaN into 0, so
/// that one is not left to it.
template <class T>
bool run_primitive(const MatMul<T>& p, const Factor& a, const Factor& b) {
  using namespace tern::detail::onednn;
  const ThreadLease lease(useful_threads(p));
  const Key key('m', int(dtype_of<T>), p.m, p.n, p.k, a.row, a.column, b.row, b.column, p.c_row, p.bias != nullptr,
                p.epilogue == Epilogue::gelu, p.accumulate, lease.count());
  Leased primitive(key, [&](const Key&) {
    const Index a_dims[] = {p.m, p.k}, b_dims[] = {p.k, p.n}, c_dims[] = {p.m, p.n}, bias_dims[] = {1, p.n};
    const Index a_strides[] = {a.row, a.column}, b_strides[] = {b.row, b.column}, c_strides[] = {p.c_row, 1};
    const Index bias_strides[] = {p.n, 1};
    const MemoryDesc a_desc(dtype_of<T>, 2, a_dims, a_strides), b_desc(dtype_of<T>, 2, b_dims, b_strides);
    const MemoryDesc c_desc(dtype_of<T>, 2, c_dims, c_strides), bias_desc(dtype_of<T>, 2, bias_dims, bias_strides);
    PostOps ops;
    if (p.accumulate) ops.sum();
    if (p.epilogue == Epilogue::gelu) ops.eltwise(dnnl_eltwise_gelu_erf);
    auto* made = new Primitive(key, matmul_desc(a_desc, b_desc, p.bias ? &bias_desc : nullptr, c_desc, Attributes(ops)));
    if (made->usable()) {
      made->argument(DNNL_ARG_SRC, a_desc);
      made->argument(DNNL_ARG_WEIGHTS, b_desc);
      made->argument(DNNL_ARG_DST, c_desc);
      if (p.bias) made->argument(DNNL_ARG_BIAS, bias_desc);
    }
    return made;
  });
  if (!primitive->usable()) return false;
  if (p.bias) primitive->run({p.a, p.b, p.c, p.bias});
  else primitive->run({p.a, p.b, p.c});
  if (p.epilogue == Epilogue::relu) {
    MatMul<T> rest = p;
    rest.bias = nullptr;
    finish(rest);
  }
  return true;
}

inline void one_matmul(const MatMul<float>& p) {
  if (work(p) <= small_work) return small_matmul(p);
  const Factor a = factor(p.m, p.k, p.a_row, p.a_col), b = factor(p.k, p.n, p.b_row, p.b_col);
  if (!a.dense()) {
    const Scratch<float> dense(p.m * p.k);
    copy_dense(p.m, p.k, p.a, p.a_row, p.a_col, dense.get());
    MatMul<float> q = p;
    q.a = dense.get(), q.a_row = p.k, q.a_col = 1;
    return one_matmul(q);
  }
  if (!b.dense()) {
    const Scratch<float> dense(p.k * p.n);
    copy_dense(p.k, p.n, p.b, p.b_row, p.b_col, dense.get());
    MatMul<float> q = p;
    q.b = dense.get(), q.b_row = p.n, q.b_col = 1;
    return one_matmul(q);
  }
  // Of oneDNN's two ways the primitive is faster by up to 1.7 where b is transposed, as in x Wᵀ; dnnl_sgemm for vectors,
  // and elsewhere a little.
  const bool vector = p.m == 1 || p.n == 1;
  if (((b.transposed() && !vector) || p.epilogue == Epilogue::gelu) && run_primitive(p, a, b)) return;
  {
    const ThreadLease lease(useful_threads(p));
    tern::detail::onednn::check(
        "matmul", dnnl_sgemm(a.transposed() ? 'T' : 'N', b.transposed() ? 'T' : 'N', p.m, p.n, p.k, 1, p.a, a.leading(), p.b,
                             b.leading(), p.accumulate ? 1 : 0, p.c, p.c_row));
  }
  finish(p);
}

/// The 16-bit types by way of float.
template <class T>
  requires is_half_v<T>
void one_matmul(const MatMul<T>& p) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    const Factor a = factor(p.m, p.k, p.a_row, p.a_col), b = factor(p.k, p.n, p.b_row, p.b_col);
    if (work(p) > small_work && a.dense() && b.dense() && run_primitive(p, a, b)) return;
  }
  if (work(p) <= small_work) return small_matmul(p);
  const Scratch<float> scratch(p.m * p.k + p.k * p.n + p.m * p.n);
  float *a = scratch.get(), *b = a + p.m * p.k, *c = b + p.k * p.n;
  copy_dense(p.m, p.k, p.a, p.a_row, p.a_col, a);
  copy_dense(p.k, p.n, p.b, p.b_row, p.b_col, b);
  one_matmul(MatMul<float>{.m = p.m, .n = p.n, .k = p.k, .a = a, .a_row = p.k, .b = b, .b_row = p.n, .c = c, .c_row = p.n});
  finish(p, static_cast<const float*>(c), p.n);
}

template <class T>
void one_matmul(const MatMul<T>& p) {
  if (work(p) <= small_work) small_matmul(p);
  else blocked_matmul(p);
}

}  // namespace matmul_detail

template <class T>
void matmul(Cpu, const MatMul<T>& product) {
  using namespace matmul_detail;
  MatMul<T> p = product;
  if (p.m == 0 || p.n == 0) return;
  if (p.b_batch == 0 && p.a_batch == p.m * p.a_row && p.c_batch == p.m * p.c_row) {  // one tall product
    p.m *= p.batch;
    p.batch = 1;
  }
  const auto one = [&p](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      MatMul<T> q = p;
      q.a += i * p.a_batch;
      q.b += i * p.b_batch;
      q.c += i * p.c_batch;
      one_matmul(q);
    }
  };
  // Small matrices are shared out among the threads; large ones are done in turn, each by all threads.
  const Index each = work(p) + 1;
  if (each > 16 * serial_work) one(0, p.batch);
  else parallel_for(p.batch, std::max<Index>(1, serial_work / each), one);
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
