// Cross entropy and negative log-likelihood, over dimension 1 of [N, C], [N, C, d...], or over [C].
#pragma once
#include "../backend/cross_entropy.hpp"
#include "losses.hpp"
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The options of nll_loss.
template <Device D, Floating T>
struct NllLossOptions {
  Tensor<D, T> weight = {};                             // for each class, [C]; undefined: ones
  Index ignore_index = -100;                            // samples with this target are ignored
  detail::ReductionChoice reduction = Reduction::mean;  // mean divides by the sum of the targets' weights
};

/// The options of cross_entropy.
template <Device D, Floating T>
struct CrossEntropyOptions {
  Tensor<D, T> weight = {};
  Index ignore_index = -100;
  detail::ReductionChoice reduction = Reduction::mean;
  double label_smoothing = 0;  // the part of each target that is spread over all classes, in [0, 1]
};

namespace detail {

/// Error unless x is [N, C, d...] or [C], and weight, if given, is [C].
[[gnu::noinline]] inline void check_classes(const CallSite& op, const Array& x, const Array* weight) {
  if (x.ndim == 0) Error::fail(op, {"the input must have a dimension of classes"});
  const Index classes = x.dims[x.ndim > 1];
  if (classes == 0) Error::fail(op, {"an input of shape ", x.shape_ref(), " has no classes"});
  if (weight && !(weight->ndim == 1 && weight->dims[0] == classes))
    Error::fail(op, {"weight must be of shape [", classes, "], not ", weight->shape_ref()});
}

/// x's shape without the dimension of classes. Error unless target has this shape.
[[gnu::noinline]] inline Shape check_target(const CallSite& op, const Array& x, const Array& target) {
  Shape shape;
  for (int i = 0; i < x.ndim; ++i)
    if (i != (x.ndim > 1)) shape.push_back(x.dims[i]);
  if (!(shape == target.shape()))
    Error::fail(op, {"the target of an input of shape ", x.shape_ref(), " must be of shape ", shape, ", not ",
                     target.shape_ref()});
  return shape;
}

inline void check_smoothing(double smoothing, CallSite here) {
  if (!(smoothing >= 0 && smoothing <= 1))
    Error::fail({"cross_entropy", here}, {"label_smoothing must lie in [0, 1], not ", smoothing});
}

/// x without gaps, but for those between rows that a product has left.
template <class D, class T>
Tensor<D, T> rows_of_product(const Tensor<D, T>& x) {
  const Array& a = *x.impl();
  return a.ndim == 2 && a.strides[1] == 1 && a.strides[0] == row_pitch<D, T>(a.dims[1]) ? x : dense(x);
}

/// The tensors that cross_entropy saves. A weight without elements stands for none.
template <class D, class T>
struct CrossEntropyState {
  const backend::CrossEntropy::Options& options;
  const Tensor<D, T>& x;
  const Tensor<D, Index>& target;
  const Tensor<D, T>& weight;
  const Tensor<D, compute_t<T>>&log_sum, &total;

  const Array* weights() const { return weight.numel() ? weight.impl() : nullptr; }

  Tensor<D, T> gradient(const backend::CrossEntropy::Options& as, const Tensor<D, T>& g) const {
    const Tensor<D, T> rows = rows_of_product(x);
    const Array& in = *rows.impl();
    const Tensor<D, T> dx(in.contiguous ? allocate<D>(in.dtype, in.shape_ref(), in.ordinal)
                                        : allocate_rows<D, T>(in.shape_ref(), in.ordinal));
    count_pass({dx.impl(), x.impl(), target.impl()});
    backend::run<D, T>(backend::CrossEntropyGradient{*dx.impl(), *dense(g).impl(), *log_sum.impl(), *total.impl(), in,
                                                     *target.impl(), weights(), as});
    return dx;
  }
  /// The gradient as tensor operations: the loss is linear in the log-probabilities, which are log_softmax(x).
  Tensor<D, T> differentiable_gradient(const Tensor<D, T>& g) const {
    backend::CrossEntropy::Options linear = options;
    linear.normalised = true;
    const Tensor<D, T> derivative = gradient(linear, ones<D, T>(g.shape(), g.device()));
    const Tensor<D, T> h = derivative * (g.dim() == 0 ? g : unsqueeze(g, 1));
    if (options.normalised) return h;
    // softmax(x) from ops that every training program compiles anyway. log_sum, which is not recorded, only keeps e in
    // range.
    const Tensor<D, T> e = exp(x - unsqueeze(to_type(log_sum, Type<T>{}), 1));
    return h - e * (sum(h, 1, true) / sum(e, 1, true));
  }
};

template <class D, class T>
Tensor<D, T> class_cross_entropy(const CallSite& op, backend::CrossEntropy::Options options, const Tensor<D, T>& x,
                                 const Tensor<D, Index>& target, const Tensor<D, T>& given_weight) {
  const Array* const weight_array = given_weight.impl();
  check_classes(op, *x.checked(op), weight_array);
  const Shape rows = check_target(op, *x.impl(), *target.checked(op));
  if (x.dim() == 1)
    return reshape(class_cross_entropy(op, options, unsqueeze(x, 0), unsqueeze(target, 0), given_weight), Shape{});
  const Tensor<D, T> weight = weight_array ? contiguous(given_weight.detach()) : empty<D, T>({0}, x.device());
  const Tensor<D, Index> labels = dense(target);
  const Tensor<D, T> y = empty<D, T>(options.reduction == Reduction::none ? rows : Shape{}, x.device());
  const auto log_sum = empty<D, compute_t<T>>(rows, x.device()), total = empty<D, compute_t<T>>({}, x.device());
  {
    const CallScope scope(op);  // of a target out of range
    count_pass({y.impl(), x.impl(), labels.impl()});
    backend::run<D, T>(backend::CrossEntropy{*y.impl(), *log_sum.impl(), *total.impl(), *rows_of_product(x).impl(),
                                             *labels.impl(), weight_array ? weight.impl() : nullptr, options});
  }
  record(op, y,
         wrt(x, saved(x, labels, weight, log_sum, total),
             [options](const auto& g, const auto& input, const auto& t, const auto& w, const auto& l, const auto& sum) {
               const CrossEntropyState<D, T> state{options, input, t, w, l, sum};
               return GradMode::is_enabled() ? state.differentiable_gradient(g) : state.gradient(options, g);
             }));
  return y;
}

TERN_INSTANCE(Tensor<Cpu> class_cross_entropy(const CallSite&, backend::CrossEntropy::Options, const Tensor<Cpu>&,
                                              const Tensor<Cpu, Index>&, const Tensor<Cpu>&))
TERN_CUDA_INSTANCE(Tensor<Cuda> class_cross_entropy(const CallSite&, backend::CrossEntropy::Options,
                                                    const Tensor<Cuda>&, const Tensor<Cuda, Index>&,
                                                    const Tensor<Cuda>&))

}  // namespace detail

/// -weight[t] x[t] for each sample, where x holds log-probabilities and t is the sample's class in `target`.
template <Device D, Floating T>
Tensor<D, T> nll_loss(const Tensor<D, T>& x, const Tensor<D, Index>& target,
                      const NllLossOptions<D, std::type_identity_t<T>>& options = {}, CallSite here = {}) {
  return detail::class_cross_entropy({"nll_loss", here}, {"nll_loss", options.ignore_index, 0, options.reduction, true},
                                     x, target, options.weight);
}

/// -weight[t] log(softmax(x)[t]) for each sample, where t is its class in `target`. Error if a class is out of range.
template <Device D, Floating T>
Tensor<D, T> cross_entropy(const Tensor<D, T>& x, const Tensor<D, Index>& target,
                           const CrossEntropyOptions<D, std::type_identity_t<T>>& options = {}, CallSite here = {}) {
  detail::check_smoothing(options.label_smoothing, here);
  return detail::class_cross_entropy(
      {"cross_entropy", here},
      {"cross_entropy", options.ignore_index, options.label_smoothing, options.reduction, false}, x, target,
      options.weight);
}

/// -(sum over classes of weight · target · log(softmax(x))) for each sample, where target holds probabilities and has
/// x's shape.
template <Device D, Floating T>
Tensor<D, T> cross_entropy(const Tensor<D, T>& x, const Tensor<D, T>& target,
                           const CrossEntropyOptions<D, std::type_identity_t<T>>& options = {}, CallSite here = {}) {
  using namespace detail;
  check_smoothing(options.label_smoothing, here);
  check_classes({"cross_entropy", here}, *x.checked({"cross_entropy", here}), options.weight.impl());
  if (!detail::same_shape(*x.impl(), *target.checked({"cross_entropy", here})))
    Error::fail({"cross_entropy", here}, {"probabilities must have the input's shape ", x.impl()->shape_ref(), ", not ",
                                          target.impl()->shape_ref()});
  const Index dim = x.dim() > 1;
  const Tensor<D, T> log_probability = log_softmax(x, dim, here);
  Tensor<D, T> weighted = log_probability;
  if (options.weight.defined()) {
    detail::Shape per_class;
    for (int i = 0; i < x.dim(); ++i) per_class.push_back(i == dim ? x.size(dim) : 1);
    weighted = mul(log_probability, options.weight.view(per_class), here);
  }
  const double keep = 1 - options.label_smoothing, spread = options.label_smoothing / double(x.size(dim));
  const auto loss = [keep, spread](auto l, auto t) { return -(l * (t * decltype(t)(keep) + decltype(t)(spread))); };
  const CallSite op{"cross_entropy", here};
  if (options.reduction == Reduction::none) return map_sum(op, loss, dim, false, 1, weighted, target);
  const Index samples = options.reduction == Reduction::mean ? x.numel() / x.size(dim) : 1;
  return map_sum(op, loss, {}, false, samples, weighted, target);
}

TERN_LOSS_WITH_WEIGHT(nll_loss)
TERN_LOSS_WITH_WEIGHT(cross_entropy)

/// The same with LibTorch's arguments. An undefined weight is one of ones.
template <Device D, Floating T, std::same_as<Reduction> R>
Tensor<D, T> nll_loss(const Tensor<D, T>& x, const Tensor<D, Index>& target, const Tensor<D, T>& weight, R reduction,
                      Index ignore_index = -100, CallSite here = {}) {
  return nll_loss(x, target, {weight, ignore_index, reduction}, here);
}
template <Device D, Floating T, Element Y, std::same_as<Reduction> R>
Tensor<D, T> cross_entropy(const Tensor<D, T>& x, const Tensor<D, Y>& target, const Tensor<D, T>& weight, R reduction,
                           Index ignore_index = -100, detail::RealNumber label_smoothing = 0, CallSite here = {}) {
  return cross_entropy(x, target, {weight, ignore_index, reduction, label_smoothing}, here);
}

// Refuses classes of another type than int64, and what TERN_SAME_PLACE refuses.
#define TERN_REFUSED_TARGETS(loss)                                                                                   \
  template <Device D, Floating T, std::integral Y, class... Rest>                                                    \
    requires(!std::same_as<Y, Index>)                                                                                \
  Tensor<D, T> loss(const Tensor<D, T>& x, const Tensor<D, Y>&, const Rest&...) {                                    \
    static_assert(std::same_as<Y, Index>, #loss ": classes are of int64, as target.to(i64)");                        \
    return x;                                                                                                        \
  }                                                                                                                  \
  template <class D1, class T1, class D2, class T2, class... Rest>                                                   \
    requires(!std::is_same_v<D1, D2> || (Floating<T2> && !std::is_same_v<T1, T2>))                                   \
  detail::Refusal<Tensor<D1, T1>, Tensor<D2, T2>> loss(const Tensor<D1, T1>&, const Tensor<D2, T2>&, const Rest&...) \
      TERN_REFUSED(D1, D2);
TERN_REFUSED_TARGETS(nll_loss)
TERN_REFUSED_TARGETS(cross_entropy)
#undef TERN_REFUSED_TARGETS

}}  // namespace tern
