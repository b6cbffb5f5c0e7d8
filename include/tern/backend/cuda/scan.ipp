// The functions of scan.hpp that are not templates.
#pragma once
#include "scan.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_scan(const Scan& op) {
  const Array* const arrays[] = {&op.in, op.gates};
  const int ordinal = common_ordinal(op.out, arrays, op.gates ? 2 : 1);
  if (op.in.numel == 0) return;
  const RowsAlong rows(op.in, op.dim);
  const ScanParameters parameters{.n = rows.n,
                                  .rows = rows.rows(),
                                  .inner = rows.inner,
                                  .out = op.out.data,
                                  .in = op.in.data,
                                  .gates = data_of(op.gates),
                                  .kind = Index(op.kind),
                                  .reverse = op.reverse};
  if (rows.inner == 1)
    launch_typed(ordinal, scan_rows_kernel, {op.in.dtype}, {rows.outer}, parameters);
  else
    launch_typed(ordinal, scan_columns_kernel, {op.in.dtype}, grid_for(rows.rows()), parameters);
}

}  // namespace tern::backend::cuda_kernels
