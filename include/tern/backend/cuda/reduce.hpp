// Reductions from traced lambdas. A block holds 256 partial results, `across` outputs times `along` the elements of
// each; long runs are cut into parts whose results are reduced once more, so that no sum has more than 128 terms in a
// row. Where elements lie side by side, a thread reads four at once: of one output, or of four. How all this is done
// depends on sizes and strides alone.
#pragma once
#include "../../core/loop_nest.hpp"
#include "../../device/cuda/memory.hpp"
#include "../reduce.hpp"
#include "codegen/kernel_parameters.hpp"
#include "codegen/source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// The functions of a reduction, and the type it is calculated in.
struct TracedReduce {
  const Traced &f, &combine, &finish;
  const Traced& keep;  // v -> v
  DType type;
  std::uint64_t identity;  // the number's bits
};

/// What a thread reads four of at once.
enum class Packs { none, of_terms, of_outputs };

/// The loops over the kept and over the reduced dimensions, and how they are walked.
struct ReduceLayout {
  int kept, reduced;  // depths
  Packs packs;
  bool narrow;  // positions fit 32 bits
};

/// Statements that add to at0, at1, … what position `rest` means in `dims` dimensions, whose sizes and strides are
/// p.<which>_size and p.<which>_stride. `integer` is rest's type.
TERN_API std::string offsets_text(int dims, const char* which, int arrays, const char* integer);

TERN_API std::string reduce_source(const TracedReduce& r, DType out, const Array* const* in, const ReduceLayout& loops,
                                   const KernelParameters& parameters);

TERN_API void run_reduce(const TracedReduce& whole, const Array& out, const Array* const* in,
                         const detail::Shape& shape, unsigned mask);

}  // namespace cuda_kernels

template <class C, class Out, class... In, class R, class F, class G>
void kernel(On<Cuda>, Types<C, Out, In...>, const Reduce<R, F, G>& op) {
  using T = compute_t<C>;
  constexpr detail::Type<T> type{};
  constexpr auto one = std::make_index_sequence<1>{};
  const cuda_kernels::Traced traced(type, op.f, std::index_sequence_for<In...>{}),
      keep(type, [](auto v) { return v; }, one);
  const cuda_kernels::Traced combine(
      type, [](auto a, auto b) { return R::combine(a, b); }, std::make_index_sequence<2>{});
  const cuda_kernels::Traced finished(type, op.finish, one);
  const T identity = R::template identity<T>();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &identity, sizeof identity);
  cuda_kernels::run_reduce({traced, combine, finished, keep, dtype_of<T>, bits}, op.out, op.in, op.shape, op.mask);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "reduce.ipp"
#endif
