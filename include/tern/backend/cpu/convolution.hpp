// Convolution on the CPU. float by oneDNN, bfloat16 too where the processor has AVX-512; else, and half, by way of
// float; double, and what oneDNN has only a reference kernel for, as matrix products of our own.
#pragma once
#include "convolution_loops.hpp"
#include "onednn_convolution.hpp"
#include "reduce.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

using detail::onednn::Pass;

/// A convolution as a primitive computes it: what x, weight, y and bias point to is read or written as the pass says.
struct ConvolutionCall {
  Pass pass;
  const Convolution& c;
  const Array &x, &weight, &y;
  const void* bias = nullptr;
  bool accumulate = false;
};

/// The array's sizes and strides; the weights of groups with the groups as a dimension of their own.
[[gnu::noinline, gnu::cold]] inline detail::onednn::MemoryDesc convolution_operand(const Array& a, Index groups,
                                                                                   bool any_order) {
  Shape dims = a.shape();
  Array dense = a;
  set_channels_last_strides(dense);
  Shape strides(dense.strides, dense.ndim);
  if (groups > 1) {
    dims = {groups, a.dims[0] / groups}, strides = {a.dims[0] / groups * strides[0], strides[0]};
    for (int i = 1; i < a.ndim; ++i) dims.push_back(a.dims[i]), strides.push_back(dense.strides[i]);
  }
  if (any_order) return {a.dtype, dims};
  return {a.dtype, dims, strides};
}

[[gnu::noinline]] inline detail::onednn::Key convolution_key(const ConvolutionCall& a, int threads) {
  detail::onednn::Key key('c', int(a.pass), int(a.x.dtype), a.c.dims, a.c.groups, a.bias != nullptr, a.accumulate,
                          threads);
  for (const Array* operand : {&a.x, &a.weight, &a.y}) key.add(operand->shape());
  for (const Index* steps : {a.c.stride, a.c.padding, a.c.dilation}) key.add(Shape(steps, a.c.dims));
  return key;
}

/// A new primitive. Its weights are in the order that suits it: any other makes oneDNN fall back to slow kernels.
[[gnu::noinline, gnu::cold]] inline detail::onednn::Primitive* make_convolution(const detail::onednn::Key& key,
                                                                                const ConvolutionCall& a) {
  using namespace detail::onednn;
  const MemoryDesc x = convolution_operand(a.x, 1, false), y = convolution_operand(a.y, 1, false);
  const MemoryDesc weight = convolution_operand(a.weight, a.c.groups, true);
  const MemoryDesc bias(a.x.dtype, {a.y.dims[1]}, {1});
  ConvolutionSteps steps;
  for (int i = 0; i < a.c.dims; ++i)
    steps.stride[i] = a.c.stride[i], steps.padding[i] = a.c.padding[i], steps.dilation[i] = a.c.dilation[i] - 1;
  const ConvolutionDescs descs{x.get(), weight.get(), a.bias ? bias.get() : nullptr, y.get()};
  const Attributes plain{PostOps()};
  PostOps ops;
  if (a.accumulate) ops.sum();
  const bool forward = a.pass == Pass::forward;
  const dnnl_primitive_desc_t hint =
      forward ? nullptr : convolution_desc(Pass::forward, dnnl_convolution_direct, descs, steps, plain, nullptr);
  const dnnl_primitive_desc_t desc =
      forward || hint ? convolution_desc(a.pass, dnnl_convolution_direct, descs, steps, Attributes(ops), hint)
                      : nullptr;
  if (hint) dnnl_primitive_desc_destroy(hint);
  if (!desc) return new Primitive(key, nullptr, {});
  const bool weights_out = a.pass == Pass::weight_gradient;
  const Desc chosen =
      dnnl_primitive_desc_query_md(desc, weights_out ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  return new Primitive(key, desc,
                       {{a.pass == Pass::data_gradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x.get()},
                        {weights_out ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, chosen},
                        {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y.get()},
                        {weights_out ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, descs.bias}});
}

/// Multiplications up to which one thread is the fastest.
inline constexpr Index serial_convolution = 65536;

/// Runs the call as a oneDNN primitive; false if there is none that is worth running.
[[gnu::noinline]] inline bool run_convolution(const ConvolutionCall& a) {
  using namespace detail::onednn;
  const Index work = a.y.numel / a.y.dims[1] * a.weight.numel;
  const ThreadLease lease(work <= serial_convolution ? 1 : num_threads());
  const Key key = convolution_key(a, lease.count());
  const Leased primitive(key, [&] { return make_convolution(key, a); });
  if (!primitive->usable()) return false;

  const bool weights_out = a.pass == Pass::weight_gradient;
  const Desc inner = primitive->desc(weights_out ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS);
  Key reorder_key = key;
  reorder_key.value[0] = 'r';
  const Leased reorder(reorder_key, [&] {
    const MemoryDesc outer = convolution_operand(a.weight, a.c.groups, false);
    if (same(inner, outer.get())) return new Primitive(reorder_key, nullptr, {});
    return weights_out ? make_reorder(reorder_key, inner, outer.get()) : make_reorder(reorder_key, outer.get(), inner);
  });
  const Scratch<char> copy(reorder->usable() ? Index(dnnl_memory_desc_get_size(inner)) : 0);
  const void* const weight = reorder->usable() ? copy.get() : a.weight.data;
  if (reorder->usable() && !weights_out) reorder->run({a.weight.data, weight});
  if (a.bias)
    primitive->run({a.x.data, weight, a.y.data, a.bias});
  else
    primitive->run({a.x.data, weight, a.y.data});
  if (reorder->usable() && weights_out) reorder->run({weight, a.weight.data});
  return true;
}

/// An array of a 16-bit type as one of float.
template <class T>
class AsFloat {
 public:
  explicit AsFloat(const Array& like) : data_(like.numel), array_(like) {
    array_.data = reinterpret_cast<char*>(data_.get());
    array_.dtype = DType::float32;
  }
  const AsFloat& read(const Array& from) const {
    parallel_for(from.numel, 16384, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) data_.get()[i] = float(from.as<T>()[i]);
    });
    return *this;
  }
  void write(const Array& to) const {
    parallel_for(to.numel, 16384, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) to.as<T>()[i] = T(data_.get()[i]);
    });
  }
  const Array& array() const { return array_; }

 private:
  Scratch<float> data_;
  Array array_;
};

/// Adds bias to rows of n elements, and applies an epilogue.
template <class T>
void finish_rows(T* rows, Index count, Index n, const T* bias, Epilogue epilogue) {
  matmul_detail::finish_in_place(MatMul<T>{.m = count, .n = n, .c = rows, .c_row = n, .epilogue = epilogue}, bias);
}

/// The sum of y's gradient over all but the channels.
template <class T>
void sum_channels(const Array& dbias, const Array& dy) {
  Array rows = dy;
  const Index n = dy.dims[1];
  rows.ndim = 2, rows.dims[0] = dy.numel / n, rows.dims[1] = n;
  set_contiguous_strides(rows);
  const Array* const in[] = {&rows};
  const auto same = [](auto v) { return v; };
  backend::reduce<T, Sum, T, T>(Cpu{}, same, same, dbias, in, rows.shape(), 1);
}

}  // namespace cpu

template <class T>
void convolution(Cpu, const Convolution& c, const Array& y, const Array& x, const Array& weight, const Array* bias,
                 const Array* residual) {
  if (residual) std::memcpy(y.data, residual->data, std::size_t(y.numel) * sizeof(T));
  const T* const b = bias ? bias->as<const T>() : nullptr;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)
    if (cpu::run_convolution({cpu::Pass::forward, c, x, weight, y, b, residual != nullptr})) {
      // oneDNN's relu turns a NaN into 0.
      if (c.relu) cpu::finish_rows<T>(y.as<T>(), y.numel / y.dims[1], y.dims[1], nullptr, Epilogue::relu);
      return;
    }
  if constexpr (is_half_v<T>) {
    const cpu::AsFloat<T> out(y), in(x), w(weight), shift(bias ? *bias : Array{});
    if (residual) out.read(*residual);
    if (bias) shift.read(*bias);
    convolution<float>(Cpu{}, c, out.array(), in.read(x).array(), w.read(weight).array(),
                       bias ? &shift.array() : nullptr, residual ? &out.array() : nullptr);
    out.write(y);
  } else {
    cpu::convolve<T>(cpu::Window(c, x, weight, y), c, y.as<T>(), x.as<T>(), weight.as<T>(), b, residual != nullptr);
  }
}

template <class T>
void convolution_data_gradient(Cpu, const Convolution& c, const Array& dx, const Array& dy, const Array& weight,
                               const Array* bias) {
  if constexpr (is_half_v<T>) {
    if (std::is_same_v<T, bfloat16> && !bias && cpu::run_convolution({cpu::Pass::data_gradient, c, dx, weight, dy}))
      return;
    const cpu::AsFloat<T> out(dx), in(dy), w(weight), shift(bias ? *bias : Array{});
    if (bias) shift.read(*bias);
    convolution_data_gradient<float>(Cpu{}, c, out.array(), in.read(dy).array(), w.read(weight).array(),
                                     bias ? &shift.array() : nullptr);
    out.write(dx);
  } else {
    if (!std::is_same_v<T, float> || !cpu::run_convolution({cpu::Pass::data_gradient, c, dx, weight, dy})) {
      std::fill_n(dx.as<T>(), dx.numel, T(0));
      cpu::convolve_data_gradient<T>(cpu::Window(c, dx, weight, dy), dx.as<T>(), dy.as<T>(), weight.as<T>());
    }
    if (bias) cpu::finish_rows<T>(dx.as<T>(), dx.numel / dx.dims[1], dx.dims[1], bias->as<const T>(), Epilogue::none);
  }
}

template <class T>
void convolution_weight_gradient(Cpu, const Convolution& c, const Array& dweight, const Array* dbias, const Array& x,
                                 const Array& dy) {
  if (dbias) cpu::sum_channels<T>(*dbias, dy);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)
    if (cpu::run_convolution({cpu::Pass::weight_gradient, c, x, dweight, dy})) return;
  if constexpr (is_half_v<T>) {
    const cpu::AsFloat<T> out(dweight), in(x), g(dy);
    convolution_weight_gradient<float>(Cpu{}, c, out.array(), nullptr, in.read(x).array(), g.read(dy).array());
    out.write(dweight);
  } else {
    cpu::convolve_weight_gradient<T>(cpu::Window(c, x, dweight, dy), dweight.as<T>(), x.as<T>(), dy.as<T>());
  }
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
