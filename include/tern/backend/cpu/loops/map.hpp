// Elementwise kernels: one lambda in one loop over packets. Code for broadcasting, strides and remainders is not a
// template. So a kernel is compiled only once, for whole packets of contiguous memory.
#pragma once
#include <cstring>
#include <utility>

#include "../../../core/loop_nest.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "../../../expr/math.hpp"
#include "../../../expr/memory.hpp"
#include "../../map.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace detail::backend::cpu_kernels {

inline constexpr int max_inputs = 10;  // the second derivative of a fused op of eight tensors has two gradients besides
inline constexpr int max_packet = 16;  // elements of the widest packet
inline constexpr Index parallel_grain = 16384;  // elements from which another thread pays

/// Computes n elements, a whole number of packets. Input k advances by step[k] bytes for each packet. With 0 it is one
/// packet of equal values.
using PacketLoop = void (*)(const void* f, char* out, const char* const* in, const int* step, Index n);

/// A kernel as the driver sees it: a constant for each function and its types. The function's captures are passed
/// separately.
struct MapKernel {
  PacketLoop loop;
  int packet;  // elements of a packet
  int inputs;
  int out_bytes;  // bytes of an element
  int in_bytes[max_inputs];
};

template <class V, class F, class Out, class Sequence, class... In>
struct MapLoop;

template <class V, class F, class Out, std::size_t... I, class... In>
struct MapLoop<V, F, Out, std::index_sequence<I...>, In...> {
  static void run(const void* closure, char* out, const char* const* in, const int* step, Index n) {
    const F& f = *static_cast<const F*>(closure);
    auto* o = reinterpret_cast<Out*>(out);
    const char* p[] = {in[I]..., nullptr};
    for (Index i = 0; i < n; i += V::size) {
      detail::expr::store_as<Out>(o + i, f(detail::expr::load_as<V>(reinterpret_cast<const In*>(p[I]))...));
      ((p[I] += step[I]), ...);
    }
  }
};

/// Copies `count` elements of `bytes` each, `stride` bytes apart, to a dense run.
TERN_API void gather_run(char* to, const char* from, Index stride, int bytes, Index count);
TERN_API void scatter_run(char* to, const char* from, Index stride, int bytes, Index count);
inline void splat(char* to, const char* value, int bytes) { gather_run(to, value, 0, bytes, max_packet); }

/// Computes n contiguous elements: whole packets in place, the rest through a buffer.
TERN_API void run_dense(const MapKernel& kernel, const void* f, char* out, const char* const* in, const int* step,
                        Index n);

/// An elementwise op with any strides. It merges dimensions, walks all but the innermost with an odometer, and gathers
/// strided runs into a tile.
class TERN_API StridedMap {
 public:
  StridedMap(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in);

  Index rows() const { return rows_; }
  Index row_length() const { return loops_.size(loops_.depth() - 1); }

  /// Computes rows [first, last) of the innermost dimension.
  void run(Index first, Index last) const {
    detail::Odometer offsets(loops_, loops_.depth() - 1, first);
    for (Index row = first; row < last; ++row, offsets.step()) run_row(offsets);
  }

 private:
  static constexpr Index tile = 256;

  void run_row(const detail::Odometer& offsets) const;

  const MapKernel& kernel_;
  const void* f_;
  detail::LoopNest loops_;  // in bytes, for each input, then the output
  const char* base_[max_inputs];
  char* out_;
  Index rows_;
};

TERN_API void run_strided(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in);

TERN_API void run_parallel(const MapKernel& kernel, const void* f, char* out, const char* const* in, const int* step,
                           Index n);

TERN_API bool same_strides(const Array& a, const Array& b);

/// Chooses the flat loop or the strided one. If all operands have the same dense order of dimensions, the flat loop
/// does.
TERN_API void run_map(const MapKernel& kernel, const void* f, const Array& out, const Array* const* in);

/// The packet type for operands of these types. The first type that is not bool decides.
template <class First, class... Rest>
struct MapPacket {
  using type = detail::expr::packet_t<First>;
};
template <class Second, class... Rest>
struct MapPacket<bool, Second, Rest...> : MapPacket<Second, Rest...> {};

}  // namespace detail::backend::cpu_kernels

namespace detail::backend {

template <class Out, class... In, class F>
void kernel(On<Cpu>, Types<Out, In...>, const Map<F>& op) {
  static_assert(sizeof...(In) <= cpu_kernels::max_inputs);
  using V = typename cpu_kernels::MapPacket<In...>::type;
  static constexpr cpu_kernels::MapKernel kernel{
      &cpu_kernels::MapLoop<V, F, Out, std::index_sequence_for<In...>, In...>::run,
      V::size,
      int(sizeof...(In)),
      int(sizeof(Out)),
      {int(sizeof(In))...}};
  cpu_kernels::run_map(kernel, &op.f, op.out, op.in);
}

template <class T>
void kernel(On<Cpu>, Types<>, const Fill<T>& op) {
  T number(static_cast<compute_t<T>>(op.value));
  Array one{};
  one.data = reinterpret_cast<char*>(&number);
  one.numel = 1;
  one.contiguous = true;
  const Array* const in[] = {&one};
  kernel(On<Cpu>{}, Types<T, T>{}, Map([](auto x) { return x; }, op.out, in));
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "map.ipp"
#endif
