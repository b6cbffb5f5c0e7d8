// The GradOps of the tape's engine, for each device and floating-point type.
#pragma once
#include "../reduce.hpp"
#include "../views.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x summed to a shape that broadcasts to x's: the gradient of broadcasting.
template <Device D, Element T>
Tensor<D, T> sum_to(const Tensor<D, T>& x, const detail::Shape& shape, CallSite here = {}) {
  const CallScope scope({"sum_to", here});
  detail::Dims dims;
  for (int i = 0; i < x.dim(); ++i) {
    const int j = i - (x.dim() - shape.n);
    if (j < 0 || (shape[j] == 1 && x.impl()->dims[i] != 1)) dims.push_back(i);
  }
  return view(dims.empty() ? x : sum(x, dims, true, here), shape, here);
}

namespace detail {
template <class D, class T>
struct GradOpsFor {
  using X = Tensor<D, T>;

  static void accumulate(TensorImpl*& sum, TensorImpl* g, bool differentiable);
  static void add_in_place(TensorImpl* sum, TensorImpl* g);
  static TensorImpl* sum_to(TensorImpl* g, ShapeRef shape);
  static void fill(double value, const Array& out);
  [[gnu::cold]] static bool has_nan(const TensorImpl* g);

  static constexpr GradOps table{&accumulate, &add_in_place, &sum_to, &fill, &has_nan, &record_view, &device_ops<D>};
};

// Defined outside the class: what a class contains is inline, and every program would compile it.

template <class D, class T>
void GradOpsFor<D, T>::accumulate(TensorImpl*& sum, TensorImpl* g, bool differentiable) {
  const X a(std::exchange(sum, nullptr)), b(g);
  if (!differentiable && sole_owner(a.impl())) {
    map_into({"accumulate", CallSite::unknown}, a, add_expression, a, b);
    retain(sum = a.impl());
  } else {
    sum = add(a, b).release();
  }
}

template <class D, class T>
void GradOpsFor<D, T>::add_in_place(TensorImpl* sum, TensorImpl* g) {
  const Borrowed<X> a(sum);
  map_into({"accumulate", CallSite::unknown}, a.tensor, add_expression, a.tensor, X(g));
}

template <class D, class T>
TensorImpl* GradOpsFor<D, T>::sum_to(TensorImpl* g, ShapeRef shape) {
  return tern::sum_to(X(g), {shape.d, shape.n}).release();
}

template <class D, class T>
void GradOpsFor<D, T>::fill(double value, const Array& out) {
  backend::run<D>(backend::Fill<T>{out, value});
}

template <class D, class T>
bool GradOpsFor<D, T>::has_nan(const TensorImpl* g) {
  const Borrowed<X> x(const_cast<TensorImpl*>(g));
  const NoGradGuard off;
  // Calculated in x's own type, because the sum of that type is compiled anyway. Infinities become 1, so that none is
  // subtracted from another.
  const auto bounded = [](auto v) { return clamp(v, decltype(v)(-1), decltype(v)(1)); };
  const T total = sum(map<T>({"has_nan", CallSite::unknown}, bounded, x.tensor)).item();
  return total != total;
}
}  // namespace detail

TERN_CLASS_INSTANCE(detail::GradOpsFor<Cpu, float>)
TERN_CUDA_CLASS_INSTANCE(detail::GradOpsFor<Cuda, float>)

}}  // namespace tern
