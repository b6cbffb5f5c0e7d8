// The functions of convolution.hpp that are not templates.
#pragma once
#include <optional>

#include "convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cpu_kernels {

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

TERN_NOINLINE detail::onednn::Key convolution_key(const ConvolutionCall& a, int threads) {
  detail::onednn::Key key('c', int(a.pass), int(a.x.dtype), a.params.dims, a.params.groups, a.bias != nullptr, threads);
  for (const Array* operand : {&a.x, &a.weight, &a.y}) key.add(operand->shape());
  for (const Index* steps : {a.params.stride, a.params.padding, a.params.dilation})
    key.add(detail::Shape(steps, a.params.dims));
  return key;
}

TERN_COLD detail::onednn::Primitive* make_convolution(const detail::onednn::Key& key, const ConvolutionCall& a) {
  using namespace detail::onednn;
  const MemoryDesc x = convolution_operand(a.x, 1, false), y = convolution_operand(a.y, 1, false);
  const MemoryDesc weight = convolution_operand(a.weight, a.params.groups, true), bias(a.x.dtype, {a.y.dims[1]}, {1});
  const Attributes attributes{PostOps()};
  dnnl_primitive_desc_t hint = nullptr, desc = nullptr;
  const auto describe = [&](detail::ConvolutionPass pass, bool jit) {
    const Desc b = a.bias ? bias.get() : nullptr;
    return convolution_desc(pass, a.params, x.get(), weight.get(), b, y.get(), attributes, hint, jit);
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
                                                          const ConvolutionCall& a) {
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

TERN_NOINLINE Index images_at_once(const ConvolutionCall& a, Index most) {
  const Index batch = a.y.dims[0];
  if (a.ends()) most = std::min(most, batch * (Index(4) << 20) / (a.y.numel * detail::size_of(a.y.dtype)));
  Index count = std::clamp<Index>(most, 1, batch);
  while (batch % count != 0) --count;
  return count;
}

/// Computes `count` images, from `first` on, with reordered weights.
TERN_NOINLINE void run_images(const ConvolutionCall& a, detail::onednn::Primitive& primitive, const void* weight,
                              Index first, Index count) {
  const Array x = images_of(a.x, first, count), y = images_of(a.y, first, count);
  if (a.bias) primitive.run({x.data, weight, y.data, a.bias->data});
  else primitive.run({x.data, weight, y.data});
  if (!a.ends()) return;
  if (y.dtype == DType::float32) end_convolution<float>(a, y);
  else end_convolution<bfloat16>(a, y);
}

TERN_NOINLINE bool run_primitive(const ConvolutionCall& a) {
  using namespace detail::onednn;
  const Index batch = a.y.dims[0], work = a.y.numel / a.y.dims[1] * a.weight.numel;
  const bool parallel = work > serial_convolution,
             by_images = parallel && batch >= 8 && a.pass != detail::ConvolutionPass::weight_gradient;
  const Index count = images_at_once(a, by_images ? batch / 8 : batch);
  const Array x = images_of(a.x, 0, count), y = images_of(a.y, 0, count);
  const ConvolutionCall part(a.pass, a.params, x, a.weight, y, a.bias);
  std::optional<detail::ThreadLease> lease(std::in_place, parallel ? get_num_threads() : 1);
  const Key key = convolution_key(part, by_images ? 1 : lease->count());
  const auto make = [&] { return make_convolution(key, part); };
  std::optional<Leased> primitive(std::in_place, key, make);
  if (!(*primitive)->usable()) return false;
  const WeightsInOrder weight(key, **primitive, a);
  if (!by_images) {
    for (Index first = 0; first < batch; first += count) run_images(a, **primitive, weight.data(), first, count);
  } else {
    primitive.reset(), lease.reset();
    detail::parallel_for(batch / count, 1, [&](Index begin, Index end) {
      const detail::ThreadLease alone(1);
      const Leased own(key, make);
      for (Index i = begin; i < end; ++i) run_images(a, *own, weight.data(), i * count, count);
    });
  }
  weight.finish();
  return true;
}

TERN_INLINE bool is_for_winograd(const ConvolutionCall& a) {
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

TERN_INLINE bool is_for_loops(const ConvolutionCall& a) {
  if (a.params.groups != 1 || a.x.dtype != DType::float32) return false;
  const Index in = a.x.dims[1], out = a.y.dims[1], pixels = a.y.numel / out, weights = a.weight.numel;
  const bool avx2 = !detail::onednn::uses(dnnl_cpu_isa_avx512_core);
  if (a.pointwise()) {
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

TERN_NOINLINE void run_winograd(const ConvolutionCall& a) {
  if (a.x.dtype == DType::float32) return run_winograd<float>(a, a.weight.as<float>());
  const AsFloat<bfloat16> weight(a.weight);
  if (a.pass != detail::ConvolutionPass::weight_gradient) weight.read(a.weight);
  run_winograd<bfloat16>(a, weight.array().as<float>());
  if (a.pass == detail::ConvolutionPass::weight_gradient) weight.write(a.weight);
}

TERN_NOINLINE bool run_convolution(const ConvolutionCall& a) {
  if (is_for_loops(a)) return false;
  if (!is_for_winograd(a)) return run_primitive(a);
  run_winograd(a);
  return true;
}

}}}  // namespace tern::backend::cpu_kernels
