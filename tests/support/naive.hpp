// A third device, in as few lines as the backend's contract allows: plain loops over single elements in host memory. It
// shows what a new device has to bring, and every kernel is held against it. Its kernels must be seen before the ops
// are.
#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "tern/backend/clip.hpp"
#include "tern/backend/copy.hpp"
#include "tern/backend/gather.hpp"
#include "tern/backend/map.hpp"
#include "tern/backend/matmul.hpp"
#include "tern/backend/random.hpp"
#include "tern/backend/reduce.hpp"
#include "tern/backend/unscale.hpp"
#include "tern/backend/update.hpp"
#include "tern/core/element_error.hpp"
#include "tern/device/device.hpp"
#include "tern/expr/lanes.hpp"
#include "tern/expr/math.hpp"
#include "tern/expr/memory.hpp"

namespace tern_test {

struct Naive {};

/// The positions of a shape in row-major order.
class Positions {
 public:
  explicit Positions(const tern::detail::Shape& shape) : shape_(shape), rest_(shape.numel()) {
    for (int i = 0; i < shape.n; ++i) at[i] = 0;
  }
  bool done() const { return rest_ == 0; }
  void next() {
    --rest_;
    for (int i = shape_.n; i-- > 0 && ++at[i] == shape_[i];) at[i] = 0;
  }
  /// The element of an array that is broadcast to the shape.
  template <class T>
  T& in(const tern::detail::Array& a) const {
    tern::Index offset = 0;
    for (int i = 0; i < a.ndim; ++i)
      if (a.dims[i] != 1) offset += at[i + shape_.n - a.ndim] * a.strides[i];
    return a.as<T>()[offset];
  }
  tern::Index at[tern::detail::max_dims];

 private:
  tern::detail::Shape shape_;
  tern::Index rest_;
};

/// What elements of these types are computed in, one at a time: the first type that is not bool decides.
template <class First, class... Rest>
struct Single {
  using type = tern::detail::expr::Lanes<tern::compute_t<First>, 1>;
};
template <class Second, class... Rest>
struct Single<bool, Second, Rest...> : Single<Second, Rest...> {};

}  // namespace tern_test

namespace tern { inline namespace TERN_BUILD {

template <>
struct DeviceTraits<tern_test::Naive> {
  static constexpr const char* name = "naive";
  static constexpr bool host_accessible = true;
};

namespace detail::backend {

using tern_test::Naive;
using tern_test::Positions;

template <class Out, class... In, class F>
void kernel(On<Naive>, Types<Out, In...>, const Map<F>& op) {
  using V = typename tern_test::Single<In...>::type;
  for (Positions p(op.out.shape()); !p.done(); p.next()) {
    int k = 0;
    const V x[] = {detail::expr::load_as<V>(&p.in<In>(*op.in[k++]))...};
    k = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      detail::expr::store_as<Out>(&p.in<Out>(op.out), op.f(x[I]...));
    }(std::index_sequence_for<In...>{});
  }
}

template <class T>
void kernel(On<Naive>, Types<>, const Fill<T>& op) {
  for (Positions p(op.out.shape()); !p.done(); p.next()) p.in<T>(op.out) = static_cast<T>(op.value);
}

inline void kernel(On<Naive>, Types<>, const Copy& op) {
  const Array &out = op.out, &in = op.in;
  const int bytes = tern::detail::size_of(out.dtype);
  for (Positions p(out.shape()); !p.done(); p.next()) {
    if (bytes == 1) p.in<std::uint8_t>(out) = p.in<std::uint8_t>(in);
    else if (bytes == 2) p.in<std::uint16_t>(out) = p.in<std::uint16_t>(in);
    else if (bytes == 4) p.in<std::uint32_t>(out) = p.in<std::uint32_t>(in);
    else p.in<std::uint64_t>(out) = p.in<std::uint64_t>(in);
  }
}

template <class C, class Out, class... In, class R, class F, class G>
void kernel(On<Naive>, Types<C, Out, In...>, const Reduce<R, F, G>& op) {
  const tern::detail::Shape& shape = op.shape;
  using V = detail::expr::Lanes<compute_t<C>, 1>;
  using Wide = std::conditional_t<tern::detail::is_floating_v<C>, double, C>;
  using Total = detail::expr::Lanes<Wide, 1>;
  std::vector<Total> sums(std::size_t(op.out.numel), Total(R::template identity<Wide>()));
  for (Positions p(shape); !p.done(); p.next()) {
    std::size_t at = 0;
    for (int i = 0; i < shape.n; ++i)
      if (!(op.mask >> i & 1)) at = at * std::size_t(shape[i]) + std::size_t(p.at[i]);
    int k = 0;
    const V x[] = {detail::expr::load_as<V>(&p.in<In>(*op.in[k++]))...};
    const V value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return V(op.f(x[I]...));
    }(std::index_sequence_for<In...>{});
    sums[at] = R::combine(sums[at], Total(value.v[0]));
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    detail::expr::store_as<Out>(op.out.template as<Out>() + i, op.finish(V(sums[i].v[0])));
}

template <class T>
void kernel(On<Naive>, Types<T>, const ArgExtreme& op) {
  const Array& in = op.in;
  const int dim = op.dim;
  tern::detail::Shape outer = in.shape();
  outer[dim] = 1;
  Index* result = op.out.as<Index>();
  for (Positions p(outer); !p.done(); p.next()) {
    Index best = 0;
    const T* const row = &p.in<T>(in);
    const auto at = [&](Index i) { return compute_t<T>(row[i * in.strides[dim]]); };
    for (Index i = 1; i < in.dims[dim] && at(best) == at(best); ++i)
      if ((op.largest ? at(i) > at(best) : at(i) < at(best)) || at(i) != at(i)) best = i;
    *result++ = best;
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const MatMul& op) {
  using Wide = std::conditional_t<tern::detail::is_floating_v<T>, double,
                                  std::conditional_t<std::is_same_v<T, bool>, bool, std::uint64_t>>;
  const Array &a = op.a, &b = op.b, &c = op.c;
  const Index m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], depth = a.dims[a.ndim - 1];
  const auto element = [](const Array& of, Index batch, Index i, Index j) -> T& {
    return of.as<T>()[batch * batch_stride(of) + i * of.strides[of.ndim - 2] + j * of.strides[of.ndim - 1]];
  };
  for (Index batch = 0; batch < batch_size(op); ++batch)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        T& to = element(c, batch, i, j);
        Wide sum = op.accumulate ? Wide(compute_t<T>(to)) : Wide(0);
        for (Index k = 0; k < depth; ++k)
          sum += Wide(compute_t<T>(element(a, batch, i, k))) * Wide(compute_t<T>(element(b, batch, k, j)));
        if (op.bias) sum += Wide(compute_t<T>(op.bias->as<T>()[j]));
        to = T(compute_t<T>(sum));
      }
}

template <class... T, class F>
void kernel(On<Naive>, Types<T...>, const Update<F>& op) {
  using V = typename tern_test::Single<std::remove_const_t<T>...>::type;
  for (int set = 0; set < op.sets; ++set) {
    const Array* const* const arrays = op.arrays + std::size_t(set) * sizeof...(T);
    for (Index i = 0; i < arrays[0]->numel; ++i) {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        V x[] = {detail::expr::load_as<V>(arrays[K]->template as<const T>() + i)...};
        op.f(x[K]...);
        const auto store = [&]<class U>(U* p, const V& v) {
          if constexpr (!std::is_const_v<U>) detail::expr::store_as<U>(p, v);
        };
        (store(arrays[K]->template as<T>() + i, x[K]), ...);
      }(std::index_sequence_for<T...>{});
    }
  }
}

template <class... T, class F>
void kernel(On<Naive> device, Types<T...> types, const UpdateUnless<F>& op) {
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

template <class T>
void kernel(On<Naive>, Types<T>, const Unscale& op) {
  using C = compute_t<T>;
  for (int k = 0; k < op.count; ++k)
    for (Index i = 0; i < op.gradients[k]->numel; ++i) {
      T& g = op.gradients[k]->template as<T>()[i];
      if (!std::isfinite(double(C(g)))) *op.found.as<float>() = 1;
      g = T(C(double(C(g)) / double(*op.scale.as<float>())));
    }
}

template <class T>
void kernel(On<Naive>, Types<T>, const PowerSum& op) {
  double& total = *op.total.as<double>() = 0;
  for (int k = 0; k < op.count; ++k)
    for (Index i = 0; i < op.gradients[k]->numel; ++i)
      total += std::pow(std::abs(double(compute_t<T>(op.gradients[k]->template as<T>()[i]))), op.p);
}

template <class T>
void kernel(On<Naive>, Types<T>, const ScaleGradients& op) {
  using C = compute_t<T>;
  for (int k = 0; k < op.count; ++k)
    for (Index i = 0; i < op.gradients[k]->numel; ++i) {
      T& g = op.gradients[k]->template as<T>()[i];
      g = T(C(g) * C(*op.factor.as<double>()));
    }
}

template <class T>
void kernel(On<Naive>, Types<>, const FillRange<T>& op) {
  for (Index i = 0; i < op.out.numel; ++i)
    if constexpr (std::is_integral_v<T>)
      op.out.template as<T>()[i] = T(std::uint64_t(op.start) + std::uint64_t(i) * std::uint64_t(op.step));
    else op.out.template as<T>()[i] = T(compute_t<T>(op.start + double(i) * op.step));
}

inline void kernel(On<Naive>, Types<>, const RefuseIf& op) {
  if (*op.found.as<bool>()) tern::detail::refuse_element(op.op, op.what, 0, 0);
}

namespace naive {
inline std::uint32_t random_word(RandomState state, Index i) {
  return tern::detail::philox(state.seed, state.stream, std::uint64_t(i / 4)).word[i % 4];
}
/// The i-th number in [0, 1) of a state.
template <class T>
compute_t<T> random_unit(RandomState state, Index i) {
  if constexpr (std::is_same_v<T, double>)
    return tern::detail::unit_double(random_word(state, 2 * i), random_word(state, 2 * i + 1));
  else return tern::detail::unit_float(random_word(state, i));
}
}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const Uniform& op) {
  using C = compute_t<T>;
  for (Index i = 0; i < op.out.numel; ++i)
    op.out.as<T>()[i] = T(C(op.low) + C(op.high - op.low) * naive::random_unit<T>(op.state, i));
}

template <class T>
void kernel(On<Naive>, Types<T>, const Dropout& op) {
  const auto keep = std::uint32_t((1 - op.p) * 65536 + 0.5);
  for (Index i = 0; i < op.in.numel; ++i) {
    const std::uint32_t word =
        tern::detail::philox(op.state.seed, op.state.stream, std::uint64_t(i / 128 * 16 + i % 16)).word[i % 128 / 32];
    const bool kept = (i % 32 < 16 ? word & 0xffff : word >> 16) < keep;
    using C = compute_t<T>;
    op.out.as<T>()[i] = T(kept ? C(1 / (1 - op.p)) * C(op.in.as<T>()[i]) : C(0));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const Normal& op) {
  using C = compute_t<T>;
  for (Index i = 0; i < op.out.numel; ++i) {
    const Index pair = i & ~Index(1);
    const C radius = std::sqrt(C(-2) * std::log(C(1) - naive::random_unit<T>(op.state, pair)));
    const C angle = C(6.283185307179586) * naive::random_unit<T>(op.state, pair + 1);
    op.out.as<T>()[i] = T(C(op.mean) + C(op.std) * radius * (i == pair ? std::cos(angle) : std::sin(angle)));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const Integers& op) {
  __extension__ typedef unsigned __int128 Wide;
  for (Index i = 0; i < op.out.numel; ++i) {
    const std::uint64_t word =
        std::uint64_t(naive::random_word(op.state, 2 * i)) << 32 | naive::random_word(op.state, 2 * i + 1);
    op.out.as<T>()[i] = T(Index(std::uint64_t(Wide(word) * std::uint64_t(op.high - op.low) >> 64)) + op.low);
  }
}

}  // namespace detail::backend
}}  // namespace tern
