// Kernels that make something of whole rows: a row is shared by up to 256 threads, and a block of 256 has as many rows
// as fit. How depends on the sizes alone, and so does the order of every sum.
#pragma once
#include "parameters.hpp"
#include "team.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// How rows are shared out to threads.
TERN_KERNEL_STRUCT(RowLayout,
                   Index count;
                   Index along;     // threads of a row
                   Index adjacent;  // whether neighbouring threads have neighbouring rows
);

inline constexpr const char* row_text = R"CUDA(
struct Row : Team {
  Index which;
  bool exists;               // false for threads behind the last row, which must reach the barriers too
  __device__ explicit Row(const RowLayout& rows) {
    along = int(rows.along);
    const int t = threadIdx.x, across = 256 / along;
    apart = rows.adjacent ? across : 1;
    at = rows.adjacent ? t / across : t % along;
    which = blockIdx.x * Index(across) + (rows.adjacent ? t % across : t / along);
    exists = which < rows.count;
  }
};
)CUDA";

/// How many blocks share the rows.
inline Index row_blocks(const RowLayout& rows) {
  const Index across = 256 / rows.along;
  return (rows.count + across - 1) / across;
}

/// `rows` rows of n elements; adjacent: the elements of neighbouring rows lie side by side, not those of one row.
struct TERN_API RowBlocks {
  RowLayout layout;

  RowBlocks(Index rows, Index n, bool adjacent)
      : layout{.count = rows, .along = power_of_two_below(n), .adjacent = adjacent} {
    const Index across = adjacent && rows < 32 ? power_of_two_below(rows) : 32;
    if (adjacent && layout.along > 256 / across) layout.along = 256 / across;
  }
  explicit RowBlocks(const detail::RowsAlong& r) : RowBlocks(r.rows(), r.n, r.inner > 1) {}
  /// Nothing is launched for no rows.
  template <class P>
  void launch(int ordinal, const KernelOf<P>& kernel, DType type, const std::type_identity_t<P>& parameters) const {
    if (layout.count) launch_typed(ordinal, kernel, {type}, {row_blocks(layout)}, parameters);
  }
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
