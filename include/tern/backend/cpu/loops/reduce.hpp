// Reductions: a lambda's value for each element, combined over some dimensions. Each kernel compiles two loops over
// packets, one along the innermost dimension and one across rows. The choice between them and the code for strides and
// remainders are not templates.
#pragma once
#include "../../reduce.hpp"
#include "reduce_driver.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// All lanes of a packet combined; every lane gets the result. Halves are combined with halves, so all lanes agree to
/// the last bit.
template <class R, class V, std::size_t... lane, int width = V::size / 2>
[[gnu::always_inline]] inline V fold_packet(V v, std::index_sequence<lane...> all,
                                            std::integral_constant<int, width> = {}) {
  v = R::combine(v, V(__builtin_shufflevector(v.v, v.v, int(lane + width) % V::size...)));
  if constexpr (width > 1) return fold_packet<R>(v, all, std::integral_constant<int, width / 2>());
  else return v;
}

/// All lanes combined into one number.
template <class R, class V>
typename V::value_type fold_lanes(V v) {
  if constexpr (requires { typename V::Native; }) {
    return fold_packet<R>(v, std::make_index_sequence<V::size>()).v[0];
  } else {
    for (int width = V::size / 2; width; width /= 2)
      for (int k = 0; k < width; ++k) {
        using One = detail::expr::Lanes<typename V::value_type, 1>;
        v.v[k] = R::combine(One(v.v[k]), One(v.v[k + width])).v[0];
      }
    return v.v[0];
  }
}

template <class V, class R>
struct ReduceCombine {
  using T = typename V::value_type;

  static void reset(char* acc, Index n) {
    const V identity(R::template identity<T>());
    for (Index i = 0; i < n; i += V::size) identity.store(reinterpret_cast<T*>(acc) + i);
  }
  static void merge(char* acc, const char* other, Index n) {
    T* const a = reinterpret_cast<T*>(acc);
    const T* const b = reinterpret_cast<const T*>(other);
    for (Index i = 0; i < n; i += V::size) R::combine(V::load(a + i), V::load(b + i)).store(a + i);
  }
  static void fold(char* acc, Index count) {
    T* const a = reinterpret_cast<T*>(acc);
    for (Index i = 0; i < count; ++i) a[i] = fold_lanes<R>(V::load(a + i * V::size));
  }
};

template <class V, class R, class F, class Sequence, class... In>
struct ReduceLoop;

template <class V, class R, class F, std::size_t... I, class... In>
struct ReduceLoop<V, R, F, std::index_sequence<I...>, In...> {
  using T = typename V::value_type;

  static V value(const F& f, const char* const* p, const Index* offset) {
    return f(detail::expr::load_as<V>(reinterpret_cast<const In*>(p[I] + offset[I]))...);
  }

  /// The same, with a prefetch. The processor's own prefetching ends at a page's end, so it would wait at the beginning
  /// of each row.
  static V value_fetching(const F& f, const char* const* p, const Index* offset) {
    constexpr int ahead = 8192;  // in bytes; 4096 gains less, 16384 no more
    (__builtin_prefetch(p[I] + offset[I] + ahead), ...);
    return value(f, p, offset);
  }

  /// Four sums, because successive additions to one sum would wait for each other. They are added up in blocks, so that
  /// rounding errors stay small.
  static void inner(const void* closure, char* acc, const char* const* in, const int* step, Index n) {
    const F& f = *static_cast<const F*>(closure);
    constexpr Index block = 16;
    const Index fours = n / (4 * V::size);
    const Index offset[4][sizeof...(In)] = {{0 * step[I]...}, {1 * step[I]...}, {2 * step[I]...}, {3 * step[I]...}};
    const char* p[] = {in[I]..., nullptr};
    V a = V::load(reinterpret_cast<T*>(acc));
    for (Index done = 0; done < fours;) {
      V s0(R::template identity<T>()), s1 = s0, s2 = s0, s3 = s0;
      const Index end = fours - done < block ? fours : done + block;
      for (; done < end; ++done) {
        s0 = R::combine(s0, value_fetching(f, p, offset[0]));
        s1 = R::combine(s1, value_fetching(f, p, offset[1]));
        s2 = R::combine(s2, value_fetching(f, p, offset[2]));
        s3 = R::combine(s3, value_fetching(f, p, offset[3]));
        ((p[I] += 4 * step[I]), ...);
      }
      a = R::combine(a, R::combine(R::combine(s0, s1), R::combine(s2, s3)));
    }
    for (n -= fours * 4 * V::size; n >= V::size; n -= V::size) {
      a = R::combine(a, value(f, p, offset[0]));
      ((p[I] += step[I]), ...);
    }
    if (n > 0) {
      T lane[V::size];
      value(f, p, offset[0]).store(lane);
      for (Index i = n; i < V::size; ++i) lane[i] = R::template identity<T>();
      a = R::combine(a, V::load(lane));
    }
    a.store(reinterpret_cast<T*>(acc));
  }

  /// Four rows at a time. The sums are in the cache, but reading and writing them takes time.
  static void outer(const void* closure, char* acc, const char* const* in, const int* step, const Index* row,
                    Index rows, Index n) {
    const F& f = *static_cast<const F*>(closure);
    const Index offset[4][sizeof...(In)] = {{0 * row[I]...}, {row[I]...}, {2 * row[I]...}, {3 * row[I]...}};
    const char* first[] = {in[I]..., nullptr};
    for (; rows > 0; rows -= 4) {
      const char* p[] = {first[I]..., nullptr};
      T* a = reinterpret_cast<T*>(acc);
      T* const end = a + n;
      if (rows >= 4) {
        for (; a < end; a += V::size) {
          const V x = R::combine(value(f, p, offset[0]), value(f, p, offset[1]));
          const V y = R::combine(value(f, p, offset[2]), value(f, p, offset[3]));
          R::combine(V::load(a), R::combine(x, y)).store(a);
          ((p[I] += step[I]), ...);
        }
      } else {
        for (; a < end; a += V::size) {
          V x = V::load(a);
          for (Index r = 0; r < rows; ++r) x = R::combine(x, value(f, p, offset[r]));
          x.store(a);
          ((p[I] += step[I]), ...);
        }
      }
      ((first[I] += 4 * row[I]), ...);
    }
  }
};

template <class V, class Out, class G>
void reduce_finish(const void* closure, char* out, const char* acc, Index n) {
  const G& g = *static_cast<const G*>(closure);
  const auto* a = reinterpret_cast<const typename V::value_type*>(acc);
  Out* o = reinterpret_cast<Out*>(out);
  for (; n >= V::size; n -= V::size, a += V::size, o += V::size) detail::expr::store_as<Out>(o, g(V::load(a)));
  if (n == 0) return;
  Out last[V::size];
  detail::expr::store_as<Out>(last, g(V::load(a)));
  for (Index i = 0; i < n; ++i) o[i] = last[i];
}

}  // namespace cpu_kernels

template <class C, class Out, class... In, class R, class F, class G>
void kernel(On<Cpu>, Types<C, Out, In...>, const Reduce<R, F, G>& op) {
  static_assert(sizeof...(In) <= cpu_kernels::max_inputs);
  using V = detail::expr::packet_t<C>;
  using Combine = cpu_kernels::ReduceCombine<V, R>;
  using Loop = cpu_kernels::ReduceLoop<V, R, F, std::index_sequence_for<In...>, In...>;
  static constexpr cpu_kernels::ReduceKernel kernel{
      &Loop::inner,     &Loop::outer,        &Combine::reset,
      &Combine::merge,  &Combine::fold,      &cpu_kernels::reduce_finish<V, Out, G>,
      V::size,          int(sizeof...(In)),  int(sizeof(typename V::value_type)),
      int(sizeof(Out)), {int(sizeof(In))...}};
  cpu_kernels::run_reduce(kernel, &op.f, &op.finish, op.out, op.in, op.shape, op.mask);
}

}  // namespace detail::backend
}}  // namespace tern
