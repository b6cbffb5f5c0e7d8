// The functions of scan.hpp that are not templates.
#pragma once
#include <bit>

#include "scan.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// The smallest power of two that is not below n.
inline Index power_of_two_from(Index n) { return Index(std::bit_ceil(std::uint64_t(n))); }

TERN_NOINLINE void run_scan(const Scan& op, int kind, const Array* positions) {
  const Array* const arrays[] = {&op.in, op.gates};
  const int ordinal = common_ordinal(op.out, arrays, op.gates ? 2 : 1);
  if (op.in.numel == 0) return;
  constexpr Index of_thread = 16, threads = 256;
  const detail::RowsAlong rows(op.in, op.dim);
  const bool adjacent_rows = rows.inner > 1;
  const Index vector = pack_size(op.in.dtype),
              rows_at_least = adjacent_rows ? std::min<Index>(32, power_of_two_from(rows.rows())) : 1;
  Index along = std::min(threads / rows_at_least, power_of_two_from((rows.n + of_thread - 1) / of_thread));
  // Lanes without an element cost nothing, where a thread with several packs would read what is not beside its
  // neighbour's.
  if (!adjacent_rows) along = std::max(along, std::min<Index>(32, power_of_two_from((rows.n + vector - 1) / vector)));
  const Index across = threads / along, groups = (rows.rows() + across - 1) / across;
  const Index tiles = (rows.n + along * of_thread - 1) / (along * of_thread);
  const TilePosts posts(ordinal, groups, tiles, along, op.gates || positions ? 4 : 2);
  const ScanParameters parameters{.n = rows.n,
                                  .inner = rows.inner,
                                  .rows = rows.rows(),
                                  .along = along,
                                  .out = op.out.data,
                                  .in = op.in.data,
                                  .gates = data_of(op.gates),
                                  .positions = data_of(positions),
                                  .reverse = op.reverse,
                                  .before = posts.parameters()};
  const bool aligned = rows.n % vector == 0 && are_aligned(vector, {&op.in, &op.out, op.gates});
  const ScanKernels& kernels = adjacent_rows ? scan_columns_kernels : aligned ? scan_packs_kernels : scan_rows_kernels;
  launch_typed(ordinal, kernels.of_kind[kind], {op.in.dtype}, {groups * tiles}, parameters);
}

}}}  // namespace tern::detail::backend::cuda_kernels
