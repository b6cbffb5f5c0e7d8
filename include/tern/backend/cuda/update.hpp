// Several arrays read and written in one pass over memory, by a traced lambda that assigns to its arguments.
#pragma once
#include "../update.hpp"
#include "codegen/chunks.hpp"
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// A lambda of references: what stands in each argument at its end.
struct TracedUpdate {
  static constexpr int most = 10;
  detail::expr::Program program;
  DType type;
  int arrays;
  int results[most];
  const Array* found = nullptr;  // of an UpdateUnless, else null
  const Array* const* skipped = nullptr;

  template <class T, class F, std::size_t... I>
  TracedUpdate(detail::Type<T>, const F& f, std::index_sequence<I...>) : type(dtype_of<T>), arrays(sizeof...(I)) {
    static_assert(sizeof...(I) <= most);
    using V = detail::expr::Symbol<T>;
    detail::expr::Program* const outer = detail::expr::Program::current;
    detail::expr::Program::current = &program;
    V x[] = {(static_cast<void>(I), V::input())...};
    f(x[I]...);
    ((results[I] = x[I].id), ...);
    detail::expr::Program::current = outer;
  }
  /// The same for a lambda that takes the count of skips first.
  template <class T, class F, std::size_t... I>
  TracedUpdate(detail::Type<T> type_of_all, const UpdateUnless<F>& op, std::index_sequence<I...> each)
      : TracedUpdate(
            type_of_all,
            [&f = op.f](auto&... x) {
              // The arrays' inputs are made before this one.
              f(detail::expr::Symbol<T>::input(), x...);
            },
            each) {
    found = &op.found;
    skipped = op.skipped;
  }
};

/// One bit for each array that is not const.
template <class... T>
constexpr unsigned written_arrays() {
  unsigned written = 0;
  int k = 0;
  ((written |= unsigned(!std::is_const_v<T>) << k++), ...);
  return written;
}

/// Some sets of arrays, updated by one launch.
struct UpdateLaunch {
  int first, last;  // sets
  int capacity;     // for sets in the kernel's parameters; a kernel serves any number of sets up to it
};

/// How many sets one launch can have.
TERN_API int most_sets(const TracedUpdate& f);

/// grid: where the number of blocks is put.
TERN_API KernelParameters update_parameters(const TracedUpdate& f, const Array* const* arrays,
                                            const UpdateLaunch& launch, cuda::Grid& grid);

/// written: which arrays the lambda may write.
TERN_API std::string update_source(const TracedUpdate& f, const Array* const* arrays, unsigned written,
                                   const KernelParameters& parameters);

TERN_API void run_update(const TracedUpdate& f, const Array* const* arrays, int sets, unsigned written);

}  // namespace cuda_kernels

template <class... T, class F>
void kernel(On<Cuda>, Types<T...>, const Update<F>& op) {
  using V = typename cuda_kernels::Calculated<std::remove_const_t<T>...>::type;
  cuda_kernels::run_update(cuda_kernels::TracedUpdate(detail::Type<V>{}, op.f, std::index_sequence_for<T...>{}),
                           op.arrays, op.sets, cuda_kernels::written_arrays<T...>());
}

template <class... T, class F>
void kernel(On<Cuda>, Types<T...>, const UpdateUnless<F>& op) {
  using V = typename cuda_kernels::Calculated<std::remove_const_t<T>...>::type;
  cuda_kernels::run_update(cuda_kernels::TracedUpdate(detail::Type<V>{}, op, std::index_sequence_for<T...>{}),
                           op.arrays, op.sets, cuda_kernels::written_arrays<T...>());
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "update.ipp"
#endif
