// The matrix product on the CPU. float: plain loops where small, else oneDNN; bfloat16: oneDNN where the processor has
// AVX-512, else, and half, by way of float; double and integers: loops of our own.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../matmul.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "blocked_matmul.hpp"
#include "../onednn/onednn.hpp"
#include "small_matmul.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace matmul_detail {

/// Multiplications up to which one thread is the fastest.
inline constexpr Index serial_work = 65536;

template <class T>
Index work(const MatMul<T>& p) {
  return p.m * p.n * p.k;
}

/// True where plain loops are the fastest.
template <class T>
bool is_small(const MatMul<T>& p) {
  return work(p) <= (p.n < lanes<T> ? 2048 : 4096) || p.m * p.n == 1;
}

template <class T>
int useful_threads(const MatMul<T>& p) {
  return work(p) <= serial_work ? 1 : num_threads();
}

/// A factor as oneDNN takes it: one stride is 1, the other at least the size that it steps over.
struct Factor {
  Index rows, columns, row, column;

  Factor(Index r, Index c, Index row_stride, Index column_stride)
      : rows(r), columns(c), row(row_stride), column(column_stride) {
    // The stride of a dimension of size 1 says nothing.
    if (columns == 1) column = 1;
    if (rows == 1) row = column == 1 ? columns : 1;
  }
  bool transposed() const { return column != 1; }
  bool dense() const { return column == 1 ? row >= columns : row == 1 && column >= rows; }
  Index leading() const { return transposed() ? column : row; }
};
template <class T>
Factor factor_a(const MatMul<T>& p) {
  return {p.m, p.k, p.a_row, p.a_col};
}
template <class T>
Factor factor_b(const MatMul<T>& p) {
  return {p.k, p.n, p.b_row, p.b_col};
}

/// A factor's copy as float, without gaps, along whichever of its strides is the smaller.
struct DenseCopy {
  bool transposed;
  Index row, column;
  Scratch<float> data;

  template <class T>
  [[gnu::noinline, gnu::cold]] DenseCopy(const Factor& f, const T* from)
      : transposed(f.row < f.column),
        row(transposed ? 1 : f.columns),
        column(transposed ? f.rows : 1),
        data(f.rows * f.columns) {
    const Index lines = transposed ? f.columns : f.rows, length = transposed ? f.rows : f.columns;
    const Index down = transposed ? f.column : f.row, along = transposed ? f.row : f.column;
    float* to = data.get();
    parallel_for(lines, std::max<Index>(1, 16384 / length), [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index j = 0; j < length; ++j) to[i * length + j] = from[i * down + j * along];
    });
  }
};

/// epilogue(c + bias), where sums holds the product so far (c itself, it may be).
template <class T, class S>
void finish(MatMul<T> p, const S* sums, Index sums_row) {
  parallel_for(p.m, std::max<Index>(1, 16384 / p.n), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) store(p, i, 0, p.n, sums + i * sums_row);
  });
}

/// epilogue(c + bias) in place; where the bias is in c already, without it.
template <class T>
[[gnu::noinline]] void finish_in_place(MatMul<T> p, const T* bias) {
  p.accumulate = false;
  p.bias = bias;
  if (bias || p.epilogue != Epilogue::none) finish(p, p.c, p.c_row);
}

/// A new oneDNN primitive for one matrix of p.
template <class T>
[[gnu::noinline, gnu::cold]] auto* make_primitive(const detail::onednn::Key& key, const MatMul<T>& p, const Factor& a,
                                                  const Factor& b) {
  using namespace detail::onednn;
  constexpr DType type = dtype_of<T>;
  const MemoryDesc a_desc(type, {p.m, p.k}, {a.row, a.column}), b_desc(type, {p.k, p.n}, {b.row, b.column});
  const MemoryDesc c_desc(type, {p.m, p.n}, {p.c_row, 1}), bias_desc(type, {1, p.n}, {p.n, 1});
  PostOps ops;
  if (p.accumulate) ops.sum();
  if (p.epilogue == Epilogue::gelu) ops.eltwise(dnnl_eltwise_gelu_erf);
  const Desc bias = p.bias ? bias_desc.get() : nullptr;
  return new Primitive(key, matmul_desc(a_desc, b_desc, bias, c_desc, Attributes(ops)),
                       {{DNNL_ARG_SRC, a_desc.get()},
                        {DNNL_ARG_WEIGHTS, b_desc.get()},
                        {DNNL_ARG_DST, c_desc.get()},
                        {DNNL_ARG_BIAS, bias}});
}

/// Runs p as a oneDNN primitive, one matrix of the batch; false if there is none for it. oneDNN's relu turns a NaN into
/// 0, so that one is not left to it.
template <class T>
bool run_primitive(const MatMul<T>& p, const Factor& a, const Factor& b) {
  using namespace detail::onednn;
  const ThreadLease lease(useful_threads(p));
  const Key key('m', int(dtype_of<T>), p.m, p.n, p.k, a.row, a.column, b.row, b.column, p.c_row, p.bias != nullptr,
                p.epilogue == Epilogue::gelu, p.accumulate, lease.count());
  const Leased primitive(key, [&] { return make_primitive(key, p, a, b); });
  if (!primitive->usable()) return false;
  if (p.bias) primitive->run({p.a, p.b, p.c, p.bias});
  else primitive->run({p.a, p.b, p.c});
  if (p.epilogue == Epilogue::relu) finish_in_place<T>(p, nullptr);
  return true;
}

void one_matmul_of_copies(MatMul<float> p, const Factor& a, const Factor& b);

inline void one_matmul(const MatMul<float>& p) {
  if (is_small(p)) return small_matmul(p);
  const Factor a = factor_a(p), b = factor_b(p);
  if (!a.dense() || !b.dense()) return one_matmul_of_copies(p, a, b);
  // Of oneDNN's two ways the primitive is faster by up to 1.6 where b is transposed, as in x Wᵀ; dnnl_sgemm by up to 5
  // for a few rows or columns, and elsewhere a little.
  const bool thin = p.m < 8 || p.n < 8;
  if (((b.transposed() && !thin) || p.epilogue == Epilogue::gelu) && run_primitive(p, a, b)) return;
  {
    const ThreadLease lease(useful_threads(p));
    detail::onednn::start();
    const char a_order = a.transposed() ? 'T' : 'N', b_order = b.transposed() ? 'T' : 'N';
    detail::onednn::check("dnnl_sgemm", dnnl_sgemm(a_order, b_order, p.m, p.n, p.k, 1, p.a, a.leading(), p.b, b.leading(),
                                                   p.accumulate ? 1 : 0, p.c, p.c_row));
  }
  finish_in_place(p, p.bias);
}

[[gnu::noinline, gnu::cold]] inline void one_matmul_of_copies(MatMul<float> p, const Factor& a, const Factor& b) {
  const bool copy_a = !a.dense();
  const DenseCopy copy = copy_a ? DenseCopy(a, p.a) : DenseCopy(b, p.b);
  if (copy_a) p.a = copy.data.get(), p.a_row = copy.row, p.a_col = copy.column;
  else p.b = copy.data.get(), p.b_row = copy.row, p.b_col = copy.column;
  one_matmul(p);
}

/// The 16-bit types, where oneDNN has nothing for them by way of float.
template <class T>
  requires is_half_v<T>
void one_matmul(const MatMul<T>& p) {
  if (is_small(p)) return small_matmul(p);
  const Factor a = factor_a(p), b = factor_b(p);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (a.dense() && b.dense() && run_primitive(p, a, b)) return;
  const DenseCopy x(a, p.a), y(b, p.b);
  const Scratch<float> sums(p.m * p.n);
  one_matmul(MatMul<float>{.m = p.m, .n = p.n, .k = p.k, .a = x.data.get(), .a_row = x.row, .a_col = x.column,
                           .b = y.data.get(), .b_row = y.row, .b_col = y.column, .c = sums.get(), .c_row = p.n});
  finish(p, static_cast<const float*>(sums.get()), p.n);
}

template <class T>
void one_matmul(const MatMul<T>& p) {
  if (is_small(p)) small_matmul(p);
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
}  // namespace tern
