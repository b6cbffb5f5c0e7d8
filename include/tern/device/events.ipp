// The functions of events.hpp that are not templates.
#pragma once
#include "events.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit std::atomic<const RangeListener*> range_listener{nullptr};

TERN_INLINE constinit thread_local DeviceEvents device_events{};

TERN_INLINE constinit thread_local WorkListener work_listener = nullptr;

TERN_NOINLINE void count_work(const CountedWork& work) {
  if (work.effort != Effort::pass) device_events.products += work.count, device_events.flops += work.flops;
  if (work_listener) [[unlikely]]
    work_listener(work);
}

/// The memory of an expanded array is read once.
inline double bytes_touched(const Array& x) {
  double elements = 1;
  for (int i = 0; i < x.ndim; ++i)
    if (x.strides[i] || x.dims[i] == 0) elements *= double(x.dims[i]);
  return elements * size_of(x.dtype);
}

TERN_NOINLINE void count_product(const Array& c, const Array& a, const Array& b) {
  count_work({Effort::product, 1, 2.0 * double(c.numel) * double(a.dims[a.ndim - 1]),
              bytes_touched(c) + bytes_touched(a) + bytes_touched(b)});
}

TERN_NOINLINE void count_pass(std::initializer_list<const Array*> touched) {
  if (!work_listener) [[likely]]
    return;
  double bytes = 0;
  for (const Array* const x : touched)
    if (x) bytes += bytes_touched(*x);
  count_work({Effort::pass, 1, 0, bytes});
}

TERN_NOINLINE void count_pass(const Array& out, const Array* const* in, int inputs) {
  if (!work_listener) [[likely]]
    return;
  double bytes = bytes_touched(out);
  for (int k = 0; k < inputs; ++k) bytes += bytes_touched(*in[k]);
  count_work({Effort::pass, 1, 0, bytes});
}

TERN_NOINLINE void count_update(const Array* const* arrays, int count, int sets) {
  if (!work_listener) [[likely]]
    return;
  double bytes = 0;
  for (int i = 0; i < sets * count; ++i) bytes += (i % count < count - 1 ? 2 : 1) * bytes_touched(*arrays[i]);
  count_work({Effort::pass, 1, 0, bytes});
}

TERN_INLINE int thread_number() {
  static std::atomic<int> threads{0};
  static constinit thread_local int number = 0;
  if (!number) number = ++threads;
  return number;
}

}}}  // namespace tern::detail
