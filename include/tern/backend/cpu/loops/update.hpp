// Several arrays read and written in one pass over memory.
#pragma once
#include "../../update.hpp"
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Takes whole packets only, as map does.
template <class V, class F, class Sequence, class... T>
struct UpdateLoop;

template <class V, class F, std::size_t... I, class... T>
struct UpdateLoop<V, F, std::index_sequence<I...>, T...> {
  static void run(const void* closure, char* const* arrays, Index n) {
    const F& f = *static_cast<const F*>(closure);
    for (Index i = 0; i < n; i += V::size) {
      V v[] = {detail::expr::load_as<V>(reinterpret_cast<const T*>(arrays[I]) + i)...};
      f(v[I]...);
      (store<T>(arrays[I], i, v[I]), ...);
    }
  }

 private:
  template <class U>
  static void store(char* array, Index i, const V& v) {
    if constexpr (!std::is_const_v<U>) detail::expr::store_as<U>(reinterpret_cast<U*>(array) + i, v);
  }
};

struct UpdateKernel {
  void (*run)(const void* f, char* const* arrays, Index n);
  const void* f;
  int packet, arrays;
  int bytes[max_inputs];
};

TERN_API void run_update_range(const UpdateKernel& kernel, char* const* arrays, Index first, Index last);

TERN_API void run_update(const UpdateKernel& kernel, char* const* arrays, Index n);

}  // namespace cpu_kernels

template <class... T, class F>
void kernel(On<Cpu>, Types<T...>, const Update<F>& op) {
  static_assert(sizeof...(T) <= cpu_kernels::max_inputs);
  using V = typename cpu_kernels::MapPacket<std::remove_const_t<T>...>::type;
  const cpu_kernels::UpdateKernel kernel{&cpu_kernels::UpdateLoop<V, F, std::index_sequence_for<T...>, T...>::run,
                                         &op.f,
                                         V::size,
                                         int(sizeof...(T)),
                                         {int(sizeof(T))...}};
  for (int set = 0; set < op.sets; ++set) {
    const Array* const* const arrays = op.arrays + std::size_t(set) * sizeof...(T);
    char* p[sizeof...(T)];
    for (std::size_t k = 0; k < sizeof...(T); ++k) p[k] = arrays[k]->data;
    cpu_kernels::run_update(kernel, p, arrays[0]->numel);
  }
}

template <class... T, class F>
void kernel(On<Cpu> device, Types<T...> types, const UpdateUnless<F>& op) {
  for (int set = 0; set < op.sets; ++set) {
    float& skipped = *op.skipped[set]->template as<float>();
    if (*op.found.template as<float>() != 0) {
      skipped += 1;
      continue;
    }
    const auto f = [&f = op.f, count = skipped]<class V, class... More>(V& first, More&... more) {
      f(V(count), first, more...);
    };
    kernel(device, types, Update(f, op.arrays + std::size_t(set) * sizeof...(T)));
  }
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "update.ipp"
#endif
