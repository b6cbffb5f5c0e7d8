// What the tape's engine needs of arithmetic, for each device and floating-point type.
#pragma once
#include "reduce.hpp"
#include "views.hpp"

namespace tern {

/// x summed to a shape that broadcasts to x's: the gradient of broadcasting.
template <Device D, Element T>
Tensor<D, T> sum_to(const Tensor<D, T>& x, const Shape& shape, Here here = {}) {
  const ErrorName name("sum_to");
  Dims dims;
  for (int i = 0; i < x.dim(); ++i) {
    const int j = i - (x.dim() - shape.n);
    if (j < 0 || (shape[j] == 1 && x.impl()->dims[i] != 1)) dims.push_back(i);
  }
  return view(dims.empty() ? x : contiguous(sum(x, dims, true, here), here), shape, here);
}

template <class D, class T>
struct GradOpsFor {
  using X = Tensor<D, T>;

  static void accumulate(TensorImpl*& sum, TensorImpl* g, bool differentiable) {
    const X a(std::exchange(sum, nullptr)), b(g);
    if (!differentiable && detail::sole_owner(a.impl())) {
      detail::map_into("accumulate", a, detail::add_expression, a, b);
      detail::retain(sum = a.impl());
    } else {
      sum = add(a, b).release();
    }
  }
  static TensorImpl* sum_to(TensorImpl* g, ShapeRef shape) { return tern::sum_to(X(g), {shape.d, shape.n}).release(); }
  static TensorImpl* copy(const TensorImpl* g) {
    TensorImpl* const y = detail::allocate<D>(g->dtype, g->shape_ref());
    backend::copy(D{}, *y, *g);
    return y;
  }
  static void record_view(TensorImpl* view) {
    detail::retain(view->base);
    const X base(view->base);
    detail::retain(view);
    const X x(view);
    const GradMode on(true);
    const detail::Region region = detail::region_of(*view, *view->base);
    record({"view", {}}, x, wrt(base, [region](const X& g) { return detail::put_region(g, region); }));
  }
  static bool has_nan(const TensorImpl* g) {
    detail::retain(const_cast<TensorImpl*>(g));
    const X x(const_cast<TensorImpl*>(g));
    const NoGradGuard off;
    // Counted in x's own type: its sum is compiled in any case, a reduction of booleans would not be.
    const auto is_nan = [](auto v) { return where(v != v, decltype(v)(1), decltype(v)(0)); };
    return sum(detail::map<T>("isnan", is_nan, x)).item() != T(0);
  }

  static constexpr GradOps table{&accumulate, &sum_to, &copy, &record_view, &has_nan};
};

}  // namespace tern
