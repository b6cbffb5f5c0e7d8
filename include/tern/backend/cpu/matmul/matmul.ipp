// The functions of matmul.hpp that are not templates.
#pragma once
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::matmul_detail {

TERN_INLINE void one_matmul(const MatrixProduct<float>& p) {
  if (is_small(p)) return small_matmul(p);
  const bool in_cache = p.n() * p.k() < Index(1) << 18;  // there oneDNN's is the faster
  if (!in_cache && is_few_rows(p)) return vector_matmul(p);
  const bool thin = p.m() < 8 || p.n() < 8;
  if (thin && p.k() > block_depth) return deep_matmul(p);
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
  // With AVX2, oneDNN's product of large matrices reaches between 61 and 90% of the peak on one thread, depending on
  // the processor; ours reaches 85 to 90%. Of smaller ones oneDNN's is the faster.
  const bool large = std::min({p.m(), p.n(), p.k()}) >= 128 && work(p) >= Index(1) << 22;
  if (large && !detail::onednn::uses(dnnl_cpu_isa_avx512_core)) return blocked_matmul(p);
#endif
  const StridedMatrix<float> a = plain(p.a), b = plain(p.b);
  if (!a.dense() || !b.dense()) return one_matmul_of_copies(p, a, b);
  // oneDNN offers a primitive and dnnl_sgemm. If b is transposed, as in x Wᵀ, the primitive is up to 1.6 times as fast
  // for some hundreds of rows, and adds a bias. For more rows dnnl_sgemm is up to 1.4 times as fast, which many columns
  // with a bias are worth, too. For few rows or columns it is up to 5 times as fast, and slightly faster otherwise.
  const bool tall = p.m() >= 768 && (!p.bias || p.n() >= 2048);
  if (b.transposed() && !tall && !thin && run_primitive(p)) return;
  for_parts(p, [](const MatrixProduct<float>& part) {
    const StridedMatrix<float> x = plain(part.a), y = plain(part.b);
    const detail::ThreadLease alone(1);
    detail::onednn::start();
    const char x_order = x.transposed() ? 'T' : 'N', y_order = y.transposed() ? 'T' : 'N';
    detail::onednn::check("dnnl_sgemm",
                          dnnl_sgemm(x_order, y_order, part.m(), part.n(), part.k(), 1, x.data, x.leading(), y.data,
                                     y.leading(), part.accumulate ? 1 : 0, part.c, part.c_row));
    if (part.bias) add_bias(part.c, part.m(), part.n(), part.c_row, part.bias);
  });
}

TERN_NOINLINE void deep_matmul(const MatrixProduct<float>& p) {
  const Index size = p.m() * p.n(), blocks = strips_of(p.k(), block_depth),
              parts = size <= few_sums ? std::min<Index>(blocks, 16) : 1;
  const Workspace<double> totals(parts * size);
  detail::parallel_for(parts, 1, [&](Index first, Index last) {
    const Workspace<float> sums(size);
    for (Index part = first; part < last; ++part) {
      double* const to = totals.get() + part * size;
      std::fill_n(to, size, 0.);
      for (Index block = part * blocks / parts; block < (part + 1) * blocks / parts; ++block) {
        const Index l = block * block_depth;
        MatrixProduct<float> one{.a = p.a, .b = p.b, .c = sums.get(), .c_row = p.n()};
        one.a.data += l * p.a.column, one.b.data += l * p.b.row;
        one.a.columns = one.b.rows = std::min(block_depth, p.k() - l);
        one_matmul(one);
        detail::parallel_for(size, 1 << 16, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) to[i] += double(sums.get()[i]);
        });
      }
    }
  });
  const Workspace<float> sums(size);
  for (Index part = 1; part < parts; ++part)
    for (Index i = 0; i < size; ++i) totals.get()[i] += totals.get()[part * size + i];
  for (Index i = 0; i < size; ++i) sums.get()[i] = float(totals.get()[i]);
  finish(p, p.m(), p.n(), static_cast<const float*>(sums.get()), p.n());
}

TERN_COLD void one_matmul_of_copies(MatrixProduct<float> p, const StridedMatrix<float>& a,
                                    const StridedMatrix<float>& b) {
  const bool copy_a = !a.dense();
  const DenseCopy copy(copy_a ? a : b);
  (copy_a ? p.a : p.b) = copy.matrix;
  one_matmul(p);
}

}}}  // namespace tern::detail::backend::matmul_detail
