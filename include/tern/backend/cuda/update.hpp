// Several arrays read and written in one pass over memory, by a traced lambda that assigns to its arguments.
#pragma once
#include "../update.hpp"
#include "map.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// A lambda of references: what stands in each argument at its end.
struct TracedUpdate {
  static constexpr int most = 10;
  expr::Program program;
  DType type;
  int arrays;
  int results[most];

  template <class T, class F, std::size_t... I>
  TracedUpdate(Type<T>, const F& f, std::index_sequence<I...>) : type(dtype_of<T>), arrays(sizeof...(I)) {
    static_assert(sizeof...(I) <= most);
    using V = expr::Symbol<T>;
    expr::Program* const outer = expr::Program::current;
    expr::Program::current = &program;
    V x[] = {(static_cast<void>(I), V::input())...};
    f(x[I]...);
    ((results[I] = x[I].id), ...);
    expr::Program::current = outer;
  }
};

TERN_API ParameterList update_parameters(const TracedUpdate& f, const Array* const* arrays);

/// written: which arrays the lambda may write.
TERN_API std::string update_source(const TracedUpdate& f, const Array* const* arrays, unsigned written, const ParameterList& parameters);

TERN_API void run_update(const TracedUpdate& f, const Array* const* arrays, unsigned written);

}  // namespace cuda_kernels

template <class... T, class F>
void kernel(On<Cuda>, Types<T...>, const Update<F>& op) {
  using V = typename cuda_kernels::Calculated<std::remove_const_t<T>...>::type;
  unsigned written = 0;
  int k = 0;
  ((written |= unsigned(!std::is_const_v<T>) << k++), ...);
  cuda_kernels::run_update(cuda_kernels::TracedUpdate(Type<V>{}, op.f, std::index_sequence_for<T...>{}), op.arrays, written);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "update.ipp"
#endif
