// Convolution on the CPU. float and bfloat16 use oneDNN or Winograd's algorithm. half is converted to float, and so is
// bfloat16 if oneDNN lacks AVX-512 for it. double, and convolutions for which oneDNN has only a reference kernel, use
// our own matrix products.
#pragma once
#include "convolution_loops.hpp"
#include "../onednn/onednn_convolution.hpp"
#include "../loops/strip.hpp"
#include "winograd.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// An array's type and sizes, with the groups of weights as a separate dimension; in channels-last order, or in any
/// order.
TERN_API detail::onednn::MemoryDesc convolution_operand(const Array& a, Index groups, bool any_order);

TERN_API detail::onednn::Key convolution_key(const Convolution& a, int threads);

/// True if oneDNN's older kernels are faster, as measured on the first layers of known networks: in the forward pass,
/// with input channels that do not fill a packet, and short lines.
inline bool is_for_jit(const Convolution& a) {
  return a.pass == detail::ConvolutionPass::forward && a.x.dtype == DType::float32 && a.params.dims == 2 &&
         a.params.groups == 1 && a.x.dims[1] < 16 && a.params.stride[0] == 1 && a.params.stride[1] == 1 &&
         a.y.dims[3] <= 64;
}

/// A new primitive. It chooses the order of its weights, because with any other oneDNN falls back to slow kernels.
TERN_API detail::onednn::Primitive* make_convolution(const detail::onednn::Key& key, const Convolution& a);

/// Weights in the order that a primitive needs: the array itself, or a copy.
class TERN_API WeightsInOrder {
 public:
  WeightsInOrder(const detail::onednn::Key& key, const detail::onednn::Primitive& primitive, const Convolution& a)
      : array_(a.weight), written_(a.pass == detail::ConvolutionPass::weight_gradient),
        reorder_(key_of(key), [&] { return make(key_of(key), primitive, a); }),
        copy_(reorder_->usable() ? Index(dnnl_memory_desc_get_size(inner(primitive, a))) : 0) {
    if (reorder_->usable() && !written_) reorder_->run({array_.data, copy_.get()});
  }
  const void* data() const { return reorder_->usable() ? copy_.get() : array_.data; }
  /// Copies written weights back to the array.
  void finish() const {
    if (reorder_->usable() && written_) reorder_->run({copy_.get(), array_.data});
  }

 private:
  static detail::onednn::Key key_of(detail::onednn::Key key) {
    key.value[0] = 'w';
    return key;
  }
  static detail::onednn::Desc inner(const detail::onednn::Primitive& primitive, const Convolution& a) {
    return primitive.desc(detail::onednn::ConvolutionArguments(a.pass).weight);
  }
  static detail::onednn::Primitive* make(const detail::onednn::Key& key, const detail::onednn::Primitive& primitive,
                                         const Convolution& a);

  const Array& array_;
  bool written_;
  detail::onednn::Leased reorder_;
  Workspace<char> copy_;
};

/// Up to so many multiplications, one thread is the fastest.
inline constexpr Index serial_convolution = 65536;

/// `count` of a batch's images, from `first` on.
TERN_API Array images_of(const Array& batch, Index first, Index count);

/// How many of a batch's images are computed at once: up to `most`. If y needs a last step, they stay in the cache
/// until that step.
TERN_API Index images_at_once(const Convolution& a, Index most);

/// True if y needs a step after the bias.
inline bool has_last_step(const Convolution& a) { return a.relu || a.residual; }

/// The last step of a forward pass on y, some of the call's images: adds the residual and applies relu. oneDNN's relu
/// would turn a NaN into 0.
template <class T>
void end_convolution(const Convolution& a, const Array& y) {
  using V = detail::expr::packet_t<T>;
  const V least(a.relu ? 0 : -__builtin_inf());
  const T* const residual = a.residual ? a.residual->as<const T>() + (y.as<T>() - a.y.as<T>()) : nullptr;
  detail::parallel_for((y.numel + V::size - 1) / V::size, parallel_grain / V::size, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const int lanes = int(std::min<Index>(V::size, y.numel - i * V::size));
      T* const at = y.as<T>() + i * V::size;
      V v = load_lanes<V>(at, lanes, 0);
      if (residual) v += load_lanes<V>(residual + i * V::size, lanes, 0);
      store_lanes(at, lanes, where(v < least, least, v));
    }
  });
}

/// Runs the call as a oneDNN primitive. False if oneDNN has no kernel that is fast enough.
TERN_API bool run_primitive(const Convolution& a);

/// True if Winograd's algorithm is faster. The cost model was fitted to 25 layers of known networks. A product costs
/// 1.15 of a direct product, the transform of a weight 25 products, that of an activation 18. A direct product of
/// bfloat16 costs 0.58 (in the weight gradient 0.8), and almost nothing on AMX; the transform of a bfloat16 weight,
/// which goes through float, costs 40. The algorithm is used only if this file was compiled for the instructions that
/// oneDNN detects at run time.
TERN_API bool is_for_winograd(const Convolution& a);

/// True if windows as rows are faster, as measured on layers of known networks. oneDNN's kernels go along a line of the
/// output, which is too short if an image has few pixels. The gradients of a 1 x 1 convolution are matrix products, at
/// which dnnl_sgemm is faster, except for few weights and many pixels. In the forward pass it is faster if there are so
/// few pixels that reordering the weights dominates, or few channels. With strides above 1, oneDNN is slowest in the
/// weight gradient. With AVX2 alone its 1 x 1 kernels are faster than any product but for the gradient of many weights
/// and few pixels, and its forward pass with strides above 1 is slow too.
TERN_API bool is_for_loops(const Convolution& a);

/// An array of a 16-bit type, converted to float.
template <class T>
class AsFloat {
 public:
  explicit AsFloat(const Array& like) : data_(like.numel), array_(like) {
    array_.data = reinterpret_cast<char*>(data_.get());
    array_.dtype = DType::float32;
  }
  const AsFloat& read(const Array& from) const {
    detail::parallel_for(from.numel, 16384, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) data_.get()[i] = float(from.as<T>()[i]);
    });
    return *this;
  }
  void write(const Array& to) const {
    detail::parallel_for(to.numel, 16384, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) to.as<T>()[i] = T(data_.get()[i]);
    });
  }
  const Array& array() const { return array_; }

 private:
  Workspace<float> data_;
  Array array_;
};

/// Runs the call by Winograd's algorithm, with activations of T and these weights or their gradient.
template <class T>
[[gnu::noinline]] void run_winograd(const Convolution& a, float* weight) {
  const Index in = a.x.dims[1], out = a.y.dims[1], top = a.params.padding[0], left = a.params.padding[1];
  T *const x = a.x.as<T>(), *const y = a.y.as<T>();
  if (a.pass == detail::ConvolutionPass::weight_gradient)
    return winograd::convolve_weight_gradient<T>({a.x, a.y, top, left}, weight, x, y);
  const Workspace<float> points(winograd::points * winograd::plane(in, out));
  if (a.pass == detail::ConvolutionPass::data_gradient) {
    winograd::turned_weights_to_points(in, out, weight, points.get());
    return winograd::convolve<T>({a.y, a.x, 2 - top, 2 - left}, x, y, points.get(), {});
  }
  winograd::weights_to_points(in, out, weight, points.get());
  winograd::convolve<T>(
      {a.x, a.y, top, left}, y, x, points.get(),
      {a.bias ? a.bias->as<const T>() : nullptr, a.residual ? a.residual->as<const T>() : nullptr, a.relu});
}

/// Runs the call by Winograd's algorithm.
TERN_API void run_winograd(const Convolution& a);

/// Runs the call by Winograd's algorithm or by oneDNN. False if oneDNN has no kernel that is fast enough.
TERN_API bool run_convolution(const Convolution& a);

/// The sum of y's gradient over all dimensions but the channels.
template <class T>
void sum_channels(const Array& dbias, const Array& dy) {
  Array rows = dy;
  const Index n = dy.dims[1];
  rows.ndim = 2, rows.dims[0] = dy.numel / n, rows.dims[1] = n;
  detail::set_contiguous_strides(rows);
  const Array* const in[] = {&rows};
  const auto same = [](auto v) { return v; };
  run<Cpu, T, T, T>(Reduce{Sum{}, same, same, dbias, in, rows.shape(), 1});
}

/// Runs the call by matrix products.
template <class T>
void convolve(const ConvolutionWindows& a) {
  if (a.pass == detail::ConvolutionPass::data_gradient) return convolve_data_gradient<T>(a);
  if (a.pass == detail::ConvolutionPass::weight_gradient) return convolve_weight_gradient<T>(a);
  convolve_forward<T>(a);
  if (has_last_step(a)) end_convolution<T>(a, a.y);
}

/// Runs the call on copies of the arrays in float.
template <class T>
void convolve_as_float(const Convolution& a) {
  const AsFloat<T> x(a.x), weight(a.weight), y(a.y), bias(a.bias ? *a.bias : Array{}),
      residual(a.residual ? *a.residual : Array{});
  if (a.pass != detail::ConvolutionPass::data_gradient) x.read(a.x);
  if (a.pass != detail::ConvolutionPass::weight_gradient) weight.read(a.weight);
  if (a.pass != detail::ConvolutionPass::forward) y.read(a.y);
  if (a.bias) bias.read(*a.bias);
  if (a.residual) residual.read(*a.residual);
  run<Cpu, float>(Convolution{a.pass, a.params, x.array(), weight.array(), y.array(), a.bias ? &bias.array() : nullptr,
                              a.residual ? &residual.array() : nullptr, a.relu});
  if (a.pass == detail::ConvolutionPass::data_gradient) x.write(a.x);
  if (a.pass == detail::ConvolutionPass::weight_gradient) weight.write(a.weight);
  if (a.pass == detail::ConvolutionPass::forward) y.write(a.y);
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const Convolution& op) {
  using namespace cpu_kernels;
  const bool forward = op.pass == detail::ConvolutionPass::forward,
             shifted = op.bias && op.pass == detail::ConvolutionPass::data_gradient;
  const Convolution product{op.pass,     op.params, op.x, op.weight, op.y, forward ? op.bias : nullptr,
                            op.residual, op.relu};
  if (op.bias && op.pass == detail::ConvolutionPass::weight_gradient) sum_channels<T>(*op.bias, op.y);
  if constexpr (detail::is_half_v<T>) {
    if (std::is_same_v<T, bfloat16> && !shifted && run_convolution(product)) return;
    convolve_as_float<T>(shifted ? op : product);
  } else {
    if (!std::is_same_v<T, float> || !run_convolution(product)) convolve<T>(ConvolutionWindows(product));
    const Index channels = op.x.dims[1];
    if (shifted)
      matmul_detail::add_bias<T>(op.x.as<T>(), op.x.numel / channels, channels, channels, op.bias->as<const T>());
  }
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "convolution.ipp"
#endif
