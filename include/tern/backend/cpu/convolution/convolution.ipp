// The functions of convolution.hpp that are not templates.
#pragma once
#include <atomic>
#include <cstring>
#include <memory>

#include "convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_COLD detail::onednn::MemoryDesc convolution_operand(const Array& a, Index groups, bool any_order) {
  detail::Shape dims = a.shape();
  Array dense = a;
  detail::set_channels_last_strides(dense);
  detail::Shape strides(dense.strides, dense.ndim);
  if (groups > 1) {
    dims = {groups, a.dims[0] / groups}, strides = {a.dims[0] / groups * strides[0], strides[0]};
    for (int i = 1; i < a.ndim; ++i) dims.push_back(a.dims[i]), strides.push_back(dense.strides[i]);
  }
  if (any_order) return {a.dtype, dims};
  return {a.dtype, dims, strides};
}

TERN_NOINLINE detail::onednn::Key convolution_key(const Convolution& a, int threads) {
  detail::onednn::Key key('c', int(a.pass), int(a.x.dtype), int(a.weight.dtype), a.params.dims, a.params.groups,
                          a.bias != nullptr, threads);
  for (const Array* operand : {&a.x, &a.weight, &a.y}) key.add(operand->shape());
  for (const Index* steps : {a.params.stride, a.params.padding, a.params.dilation})
    key.add(detail::Shape(steps, a.params.dims));
  return key;
}

TERN_COLD detail::onednn::Primitive* make_convolution(const detail::onednn::Key& key, const Convolution& a) {
  using namespace detail::onednn;
  Array read = a.weight;
  read.dtype = a.x.dtype;  // a gradient may have another type
  const MemoryDesc x = convolution_operand(a.x, 1, false), y = convolution_operand(a.y, 1, false);
  const MemoryDesc weight = convolution_operand(a.weight, a.params.groups, true),
                   forward_weight = convolution_operand(read, a.params.groups, true),
                   bias(a.x.dtype, {a.y.dims[1]}, {1});
  const Attributes attributes{PostOps()};
  dnnl_primitive_desc_t hint = nullptr, desc = nullptr;
  const auto describe = [&](detail::ConvolutionPass pass, bool jit) {
    const Desc b = a.bias ? bias.get() : nullptr;
    const Desc w = pass == a.pass ? weight.get() : forward_weight.get();
    return convolution_desc(pass, a.params, x.get(), w, b, y.get(), attributes, hint, jit);
  };
  if (a.pass != detail::ConvolutionPass::forward) hint = describe(detail::ConvolutionPass::forward, false);
  if (a.pass == detail::ConvolutionPass::forward || hint) desc = describe(a.pass, is_for_jit(a));
  if (hint) dnnl_primitive_desc_destroy(hint);
  if (!desc) return new Primitive(key, nullptr, {});
  const ConvolutionArguments numbers(a.pass);
  return new Primitive(key, desc,
                       {{numbers.x, dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, numbers.x)},
                        {numbers.weight, dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, numbers.weight)},
                        {numbers.y, dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, numbers.y)},
                        {DNNL_ARG_BIAS, a.bias ? bias.get() : nullptr}});
}

TERN_COLD detail::onednn::Primitive* WeightsInOrder::make(const detail::onednn::Key& key,
                                                          const detail::onednn::Primitive& primitive,
                                                          const Convolution& a) {
  const detail::onednn::MemoryDesc outer = convolution_operand(a.weight, a.params.groups, false);
  const detail::onednn::Desc order = inner(primitive, a);
  if (detail::onednn::same(order, outer.get())) return new detail::onednn::Primitive(key, nullptr, {});
  return a.pass == detail::ConvolutionPass::weight_gradient ? detail::onednn::make_reorder(key, order, outer.get())
                                                            : detail::onednn::make_reorder(key, outer.get(), order);
}

TERN_NOINLINE Array images_of(const Array& batch, Index first, Index count) {
  Array some = batch;
  const Index image = batch.numel / batch.dims[0];
  some.data += first * image * Index(detail::size_of(batch.dtype));
  some.dims[0] = count, some.numel = count * image;
  return some;
}

TERN_NOINLINE Index images_at_once(const Convolution& a, Index most) {
  const Index batch = a.y.dims[0];
  if (has_last_step(a)) most = std::min(most, batch * (Index(4) << 20) / (a.y.numel * detail::size_of(a.y.dtype)));
  Index count = std::clamp<Index>(most, 1, batch);
  while (batch % count != 0) --count;
  return count;
}

/// Computes `count` images, from `first` on, with reordered weights.
TERN_NOINLINE void run_images(const Convolution& a, detail::onednn::Primitive& primitive, const void* weight,
                              Index first, Index count) {
  const Array x = images_of(a.x, first, count), y = images_of(a.y, first, count);
  if (a.bias) primitive.run({x.data, weight, y.data, a.bias->data});
  else primitive.run({x.data, weight, y.data});
  if (!has_last_step(a)) return;
  if (y.dtype == DType::float32) end_convolution<float>(a, y);
  else end_convolution<bfloat16>(a, y);
}

TERN_INLINE bool is_parallel(const Convolution& a) {
  return a.y.numel / a.y.dims[1] * a.weight.numel > serial_convolution;
}

/// The whole call, which oneDNN divides among the threads.
TERN_NOINLINE bool run_whole(const Convolution& a) {
  using namespace detail::onednn;
  const Index batch = a.y.dims[0], count = images_at_once(a, batch);
  const Array x = images_of(a.x, 0, count), y = images_of(a.y, 0, count);
  const Convolution part{a.pass, a.params, x, a.weight, y, a.bias};
  const detail::ThreadLease lease(is_parallel(a) ? get_num_threads() : 1);
  const Key key = convolution_key(part, lease.count());
  const Leased primitive(key, [&] { return make_convolution(key, part); });
  if (!primitive->usable()) return false;
  const WeightsInOrder weight(key, *primitive, a);
  for (Index first = 0; first < batch; first += count) run_images(a, *primitive, weight.data(), first, count);
  weight.finish();
  return true;
}

/// A primitive that was made to run on one thread: oneDNN divides its work when it makes it.
template <class Make>
std::unique_ptr<detail::onednn::Leased> made_for_one_thread(const detail::onednn::Key& key, const Make& make) {
  const detail::ThreadLease alone(1);
  return std::make_unique<detail::onednn::Leased>(key, make);
}

/// Parts of the batch, each on one thread. Weights are put in oneDNN's order once.
TERN_NOINLINE bool run_by_images(const Convolution& a) {
  using namespace detail::onednn;
  const Index batch = a.y.dims[0], count = images_at_once(a, batch / 8);
  const Array x = images_of(a.x, 0, count), y = images_of(a.y, 0, count);
  const Convolution part{a.pass, a.params, x, a.weight, y, a.bias};
  const Key key = convolution_key(part, 1);
  const auto make = [&] { return make_convolution(key, part); };
  std::unique_ptr<Leased> first = made_for_one_thread(key, make);
  if (!(*first)->usable()) return false;
  const auto reordered = [&] {
    const detail::ThreadLease lease(a.weight.numel > 1 << 18 ? get_num_threads() : 1);
    return std::make_unique<WeightsInOrder>(key, **first, a);
  };
  const auto weight = reordered();
  first.reset();
  detail::parallel_for(batch / count, 1, [&](Index begin, Index end) {
    const detail::ThreadLease alone(1);
    const Leased primitive(key, make);
    for (Index i = begin; i < end; ++i) run_images(a, *primitive, weight->data(), i * count, count);
  });
  return true;
}

/// A weight gradient as the sum of those of parts of the batch, each on one thread. They are floats, in oneDNN's order.
TERN_NOINLINE bool add_weight_gradients(const Convolution& a) {
  using namespace detail::onednn;
  const Index batch = a.y.dims[0], count = images_at_once(a, std::max<Index>(1, batch / 8)), parts = batch / count;
  const Array x = images_of(a.x, 0, count), y = images_of(a.y, 0, count);
  Array sum = a.weight;
  sum.dtype = DType::float32;
  const Convolution part{a.pass, a.params, x, sum, y};
  const Key key = convolution_key(part, 1);
  const auto make = [&] { return make_convolution(key, part); };
  std::unique_ptr<Leased> first = made_for_one_thread(key, make);
  if (!(*first)->usable()) return false;
  const Desc order = (*first)->desc(ConvolutionArguments(a.pass).weight);
  const Index bytes = Index(dnnl_memory_desc_get_size(order));
  Key reorder = key;
  reorder.value[0] = 's';
  const auto to_outer = made_for_one_thread(reorder, [&] {
    const MemoryDesc outer = convolution_operand(a.weight, a.params.groups, false);
    return make_reorder(reorder, order, outer.get());
  });
  first.reset();
  const Workspace<char> gradients(parts * bytes);
  detail::parallel_for(parts, 1, [&](Index begin, Index end) {
    const detail::ThreadLease alone(1);
    const Leased primitive(key, make);
    for (Index i = begin; i < end; ++i) run_images(part, *primitive, gradients.get() + i * bytes, i * count, count);
  });
  float* const total = reinterpret_cast<float*>(gradients.get());
  const Index numel = bytes / Index(sizeof(float));
  detail::parallel_for(numel, 16384, [&](Index begin, Index end) {
    for (Index i = 1; i < parts; ++i)
      for (Index k = begin; k < end; ++k) total[k] += total[i * numel + k];
  });
  const detail::ThreadLease alone(1);
  (*to_outer)->run({total, a.weight.data});
  return true;
}

/// A weight gradient in parts for some output channels each, every part on one thread. It copies their gradients.
TERN_NOINLINE bool run_by_channels(const Convolution& a) {
  const Index channels = a.y.dims[1], parts = std::min<Index>(8, channels / 32), blocks = channels / 16,
              pixels = a.y.numel / channels, size = detail::size_of(a.y.dtype), filter = a.weight.numel / channels;
  std::atomic<bool> usable{true};
  detail::parallel_for(parts, 1, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) {
      const Index begin = t * blocks / parts * 16, end = t + 1 == parts ? channels : (t + 1) * blocks / parts * 16;
      const Index row = (end - begin) * size;
      const Workspace<char> copy(pixels * row);
      for (Index i = 0; i < pixels; ++i)
        std::memcpy(copy.get() + i * row, a.y.data + (i * channels + begin) * size, std::size_t(row));
      Array y = a.y, weight = a.weight;
      y.data = copy.get(), y.dims[1] = end - begin, y.numel = pixels * (end - begin);
      detail::set_channels_last_strides(y);
      weight.data += begin * filter * detail::size_of(weight.dtype), weight.dims[0] = end - begin;
      weight.numel = filter * (end - begin);
      if (!run_whole({a.pass, a.params, a.x, weight, y})) usable = false;
    }
  });
  return usable;
}

TERN_NOINLINE bool run_primitive(const Convolution& a) {
  const Index batch = a.y.dims[0];
  if (!is_parallel(a)) return run_whole(a);
  if (a.pass != detail::ConvolutionPass::weight_gradient) return batch < 8 ? run_whole(a) : run_by_images(a);
  if (a.weight.numel <= 1 << 16 && batch > 1) return add_weight_gradients(a);
  return a.params.groups == 1 && a.y.dims[1] >= 64 ? run_by_channels(a) : run_whole(a);
}

TERN_INLINE bool is_for_winograd(const Convolution& a) {
  const ConvParams& c = a.params;
  const Index in = a.x.dims[1], out = a.y.dims[1];
  const bool narrow = a.x.dtype == DType::bfloat16;
  if (!winograd::fast || c.dims != 2 || c.groups != 1 || (a.x.dtype != DType::float32 && !narrow)) return false;
  for (int i = 0; i < 2; ++i)
    if (a.weight.dims[2 + i] != 3 || c.stride[i] != 1 || c.dilation[i] != 1 || c.padding[i] > 2) return false;
  if (in % winograd::V::size != 0 || out % winograd::V::size != 0) return false;
  const double pixels = double(a.y.numel / out), tiles = double(winograd::TiledConvolution(a.x, a.y, 0, 0).count());
  const double products = double(in) * double(out), channels = double(in + out);
  if (narrow && detail::onednn::has_amx()) return false;
  const double direct = !narrow                                              ? 1
                        : a.pass == detail::ConvolutionPass::weight_gradient ? 0.8
                                                                             : 0.58,
               weights = narrow ? 40 : 25;
  return direct * 9 * pixels * products > 36 * ((1.15 * tiles + weights) * products + 18 * tiles * channels);
}

TERN_INLINE bool is_for_loops(const Convolution& a) {
  if (a.params.groups != 1 || a.x.dtype != DType::float32) return false;
  const Index in = a.x.dims[1], out = a.y.dims[1], pixels = a.y.numel / out, weights = a.weight.numel;
  const bool avx2 = !detail::onednn::uses(dnnl_cpu_isa_avx512_core);
  if (is_pointwise(a)) {
    if (avx2) return a.pass == detail::ConvolutionPass::weight_gradient && weights >= 1 << 18 && pixels <= 2048;
    if (a.pass == detail::ConvolutionPass::forward) return pixels <= 1024 || in < 48;
    return a.pass == detail::ConvolutionPass::data_gradient || weights >= 2048;
  }
  if (a.pass == detail::ConvolutionPass::data_gradient) return false;
  if (pixels <= 4 * a.y.dims[0]) return weights > in * out;
  if (a.params.stride[0] == 1) return false;
  return a.pass == detail::ConvolutionPass::forward && !avx2 ? pixels <= 1024 && weights >= 1 << 19
                                                             : std::min(in, out) >= 128;
}

TERN_NOINLINE void run_winograd(const Convolution& a) {
  if (a.x.dtype == DType::float32) return run_winograd<float>(a, a.weight.as<float>());
  const AsFloat<bfloat16> weight(a.weight);
  if (a.pass != detail::ConvolutionPass::weight_gradient) weight.read(a.weight);
  run_winograd<bfloat16>(a, weight.array().as<float>());
  if (a.pass == detail::ConvolutionPass::weight_gradient) weight.write(a.weight);
}

TERN_NOINLINE bool run_convolution(const Convolution& a) {
  if (is_for_loops(a)) return false;
  if (!is_for_winograd(a)) return run_primitive(a);
  run_winograd(a);
  return true;
}

}}}  // namespace tern::detail::backend::cpu_kernels
