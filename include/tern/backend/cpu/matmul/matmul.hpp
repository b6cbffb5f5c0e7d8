// The matrix product on the CPU: plain loops if small, loops that read b once if a has few rows. Otherwise, float:
// oneDNN, or blocks if the processor has AVX2 alone. bfloat16: tiles if it has AMX, oneDNN if it has AVX-512, else
// converted to float. half: converted to float. double and integers: blocks.
#pragma once
#include "../../matmul.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "blocked_matmul.hpp"
#include "../onednn/onednn.hpp"
#include "small_matmul.hpp"
#include "tile_matmul.hpp"
#include "vector_matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace matmul_detail {

/// True if plain loops are the fastest.
template <class T>
bool is_small(const MatrixProduct<T>& p) {
  return work(p) <= (p.n() < lanes<T> ? 2048 : 4096) || (p.m() * p.n() == 1 && is_dots(p));
}

/// A matrix in the form that oneDNN takes. The stride of a dimension of size 1 is arbitrary, so it is chosen to make
/// the matrix dense.
template <class T>
StridedMatrix<T> plain(StridedMatrix<T> f) {
  if (f.columns == 1) f.column = 1;
  if (f.rows == 1) f.row = f.column == 1 ? f.columns : 1;
  return f;
}

/// A matrix converted to float, dense along the smaller of its strides.
struct DenseCopy {
  Workspace<float> data;
  StridedMatrix<float> matrix;

  template <class T>
  [[gnu::noinline, gnu::cold]] explicit DenseCopy(const StridedMatrix<T>& f) : data(f.rows * f.columns) {
    const bool transposed = f.row < f.column;
    const Index lines = transposed ? f.columns : f.rows, length = transposed ? f.rows : f.columns;
    const Index down = transposed ? f.column : f.row, along = transposed ? f.row : f.column;
    const T* const from = f.data;
    float* const to = data.get();
    matrix = {to, f.rows, f.columns, transposed ? 1 : length, transposed ? length : 1};
    detail::parallel_for(lines, std::max<Index>(1, 16384 / length), [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index j = 0; j < length; ++j) to[i * length + j] = from[i * down + j * along];
    });
  }
};

/// oneDNN's products of so many rows are accurate, and adding their results takes less than a hundredth of their time.
inline constexpr Index block_depth = 16384;

/// Up to so many sums, such blocks are shared among the threads.
inline constexpr Index few_sums = 4096;

/// c = sums, + c if accumulating, + bias. sums holds rows of a result; it may be c itself.
template <class T, class S>
void finish(const MatrixProduct<T>& p, Index rows, Index columns, const S* sums, Index sums_row) {
  detail::parallel_for(rows, std::max<Index>(1, 16384 / columns), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) store(p, i, 0, columns, sums + i * sums_row);
  });
}

/// Adds a bias to rows of c.
template <class T>
[[gnu::noinline]] void add_bias(T* c, Index rows, Index columns, Index row, const T* bias) {
  finish(MatrixProduct<T>{.c = c, .c_row = row, .bias = bias}, rows, columns, c, row);
}

/// A new oneDNN primitive for one matrix of p.
template <class T>
[[gnu::noinline, gnu::cold]] auto* make_primitive(const detail::onednn::Key& key, const MatrixProduct<T>& p,
                                                  const StridedMatrix<T>& a, const StridedMatrix<T>& b) {
  using namespace detail::onednn;
  constexpr DType type = dtype_of<T>;
  const MemoryDesc a_desc(type, {p.m(), p.k()}, {a.row, a.column}), b_desc(type, {p.k(), p.n()}, {b.row, b.column});
  const MemoryDesc c_desc(type, {p.m(), p.n()}, {p.c_row, 1}), bias_desc(type, {1, p.n()}, {p.n(), 1});
  PostOps ops;
  if (p.accumulate) ops.sum();
  const Desc bias = p.bias ? bias_desc.get() : nullptr;
  return new Primitive(key, matmul_desc(a_desc, b_desc, bias, c_desc, Attributes(ops)),
                       {{DNNL_ARG_SRC, a_desc.get()},
                        {DNNL_ARG_WEIGHTS, b_desc.get()},
                        {DNNL_ARG_DST, c_desc.get()},
                        {DNNL_ARG_BIAS, bias}});
}

/// Into how many parts a product is divided, each of which is one thread's: of c's rows, of its columns, and of the
/// sums. The shape alone determines it, because oneDNN's sums depend on a part's shape. A part packs its operands anew,
/// so it is not small.
struct MatrixParts {
  Index down, across, deep;

  MatrixParts(Index m, Index n, Index k) {
    const double products = double(m) * double(n) * double(k);
    const Index wanted = std::max(Index(std::clamp(products / 12e6, 1., 4.)), Index(std::min(products / 128e6, 64.)));
    down = std::clamp<Index>(m / (wanted > 4 ? 256 : 128), 1, wanted);
    across = std::clamp<Index>(n / (down == 1 ? 128 : 2048), 1, wanted / down);
    deep = m * n > 1 << 18 ? 1 : std::clamp<Index>(k / 2048, 1, wanted / (down * across));
  }
  static Index begin(Index part, Index parts, Index size) {
    return part == parts ? size : part * (size / 16) / parts * 16;
  }
};

/// Calls f(q) for parts q of p, which is one matrix of a batch, on several threads.
template <class T, class F>
void for_parts(const MatrixProduct<T>& p, const F& f) {
  MatrixParts parts(p.m(), p.n(), p.k());
  if (sizeof(T) < sizeof(float)) parts.deep = 1;  // sums of sums would be rounded
  const Index size = p.m() * p.n(), tiles = parts.down * parts.across;
  const Workspace<T> sums(parts.deep > 1 ? parts.deep * size : 0);
  detail::parallel_for(tiles * parts.deep, 1, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) {
      const Index row = t % parts.down, column = t / parts.down % parts.across, depth = t / tiles;
      const Index i = parts.begin(row, parts.down, p.m()), j = parts.begin(column, parts.across, p.n()),
                  l = parts.begin(depth, parts.deep, p.k());
      MatrixProduct<T> q = p;
      q.a.data += i * p.a.row + l * p.a.column, q.b.data += l * p.b.row + j * p.b.column;
      q.a.rows = parts.begin(row + 1, parts.down, p.m()) - i;
      q.b.columns = parts.begin(column + 1, parts.across, p.n()) - j;
      q.a.columns = q.b.rows = parts.begin(depth + 1, parts.deep, p.k()) - l;
      if (parts.deep == 1) {
        q.c += i * p.c_row + j;
        if (p.bias) q.bias += j;
      } else {
        q.c = sums.get() + depth * size + i * p.n() + j;
        q.c_row = p.n(), q.bias = nullptr, q.accumulate = false;
      }
      f(q);
    }
  });
  if constexpr (sizeof(T) == sizeof(float)) {
    if (parts.deep == 1) return;
    detail::parallel_for(size, 4096, [&](Index begin, Index end) {
      for (Index part = 1; part < parts.deep; ++part)
        for (Index i = begin; i < end; ++i) sums.get()[i] += sums.get()[part * size + i];
    });
    finish(p, p.m(), p.n(), static_cast<const T*>(sums.get()), p.n());
  }
}

/// Runs p, one matrix of the batch, as oneDNN primitives. False if oneDNN has none for it.
template <class T>
bool run_primitive(const MatrixProduct<T>& p) {
  using namespace detail::onednn;
  std::atomic<bool> usable{true};
  for_parts(p, [&](const MatrixProduct<T>& part) {
    const StridedMatrix<T> a = plain(part.a), b = plain(part.b);
    const detail::ThreadLease alone(1);
    const Key key('m', int(dtype_of<T>), part.m(), part.n(), part.k(), a.row, a.column, b.row, b.column, part.c_row,
                  part.bias != nullptr, part.accumulate);
    const Leased primitive(key, [&] { return make_primitive(key, part, a, b); });
    if (!primitive->usable()) usable = false;
    else if (part.bias) primitive->run({a.data, b.data, part.c, part.bias});
    else primitive->run({a.data, b.data, part.c});
  });
  return usable;
}

TERN_API void one_matmul(const MatrixProduct<float>& p);

/// As products of block_depth rows of b, which are added in double.
TERN_API void deep_matmul(const MatrixProduct<float>& p);

TERN_API void one_matmul_of_copies(MatrixProduct<float> p, const StridedMatrix<float>& a,
                                   const StridedMatrix<float>& b);

/// The 16-bit types. If oneDNN has no product for them, they are converted to float.
template <class T>
  requires detail::is_half_v<T>
void one_matmul(const MatrixProduct<T>& p) {
  if (is_small(p)) return small_matmul(p);
  if (is_few_rows(p)) return vector_matmul(p);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (has_tiles()) return tile_matmul(p);
  const StridedMatrix<T> a = plain(p.a), b = plain(p.b);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (a.dense() && b.dense() && run_primitive(p)) return;
  const DenseCopy x(a), y(b);
  const Workspace<float> sums(p.m() * p.n());
  one_matmul(MatrixProduct<float>{.a = x.matrix, .b = y.matrix, .c = sums.get(), .c_row = p.n()});
  finish(p, p.m(), p.n(), static_cast<const float*>(sums.get()), p.n());
}

template <class T>
void one_matmul(const MatrixProduct<T>& p) {
  if (is_small(p)) small_matmul(p);
  else if (is_few_rows(p)) vector_matmul(p);
  else blocked_matmul(p);
}

/// All matrices of a batch.
template <class T>
void multiply(MatrixProduct<T> p) {
  if (p.m() == 0 || p.n() == 0) return;
  if (p.b.batch == 0 && p.a.batch == p.m() * p.a.row && p.c_batch == p.m() * p.c_row) {  // as one tall product
    p.a.rows *= p.matrices;
    p.matrices = 1;
  }
  const auto some = [&p](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      MatrixProduct<T> one = p;
      one.a.data += i * p.a.batch;
      one.b.data += i * p.b.batch;
      one.c += i * p.c_batch;
      one_matmul(one);
    }
  };
  // Small matrices are shared among the threads. Large ones are computed one after the other, each by all threads.
  const Index each = work(p) + 1;
  if (each > 16 * serial_work) some(0, p.matrices);
  else detail::parallel_for(p.matrices, std::max<Index>(1, serial_work / each), some);
}

template <class T>
StridedMatrix<T> strided_matrix(const Array& a) {
  const int last = a.ndim - 1;
  return {a.as<const T>(), a.dims[last - 1], a.dims[last], a.strides[last - 1], a.strides[last], batch_stride(a)};
}

}  // namespace matmul_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const MatMul& op) {
  using namespace matmul_detail;
  multiply(MatrixProduct<T>{.matrices = batch_size(op),
                            .a = strided_matrix<T>(op.a),
                            .b = strided_matrix<T>(op.b),
                            .c = op.c.as<T>(),
                            .c_row = op.c.strides[op.c.ndim - 2],
                            .c_batch = batch_stride(op.c),
                            .bias = op.bias ? op.bias->as<const T>() : nullptr,
                            .accumulate = op.accumulate});
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "matmul.ipp"
#endif
