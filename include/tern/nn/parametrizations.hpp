// weight_norm and spectral_norm: layers whose weight is calculated from learned tensors, as those of
// torch.nn.utils.parametrizations, whose names they have in a state dict.
#pragma once
#include <optional>

#include "../ops/blas.hpp"
#include "../ops/distance.hpp"
#include "../ops/matmul.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

template <int dims, Device D, Element T>
struct ConvTransposeNd;

struct WeightNormOptions {
  Index dim = 0;  // a norm for each index of it, over all other dimensions; -1: one norm, of the whole weight
};

struct SpectralNormOptions {
  Index n_power_iterations = 1;  // of each call in training
  double eps = 1e-12;            // the least norm that is divided by
  std::optional<Index> dim{};    // the rows of the weight as a matrix; 1 for transposed convolutions, else 0
};

namespace detail {

/// The weight's dimensions with `dim` first.
[[gnu::noinline, gnu::cold]] inline tern::detail::Dims dim_first(const CallSite& op, Index dim, int n) {
  tern::detail::Dims order;
  order.push_back(tern::detail::existing_dim(op, dim, n));
  for (int i = 0; i < n; ++i)
    if (i != order[0]) order.push_back(i);
  return order;
}

/// Error unless the parameter that is normalised is the weight.
[[gnu::noinline, gnu::cold]] inline void check_name(const CallSite& op, std::string_view parameter) {
  if (parameter != "weight") Error::fail(op, {"only a layer's weight is normalised, not ", std::string(parameter)});
}

template <class L>
inline constexpr Index row_dim = 0;
template <int dims, class D, class T>
inline constexpr Index row_dim<ConvTransposeNd<dims, D, T>> = 1;

/// layer(x...) with this weight, which the layer has for the time of the call alone.
template <class L, class W, class... X>
auto call_with_weight(L& layer, const W& weight, X&&... x) {
  struct Lent {
    W& handle;
    ~Lent() { handle = W(); }
  } lent{layer.weight};
  lent.handle = weight;
  return layer(static_cast<X&&>(x)...);
}

/// The weight of a layer that is to calculate it, taken from the layer.
template <class L>
auto take_weight(const char* op, L& layer, const CallSite& here) {
  static_assert(requires { layer.weight.promoted(); }, "the layer has no nn::Parameter named weight");
  if (!layer.weight.defined()) Error::fail({op, here}, {"the layer has no weight"});
  const auto weight = layer.weight.detach();
  layer.weight = {};
  return weight;
}

}  // namespace detail

/// The layer with the weight g v / ‖v‖ (Salimans, Kingma: "Weight normalization", 2016). g, the norms, is original0,
/// and v is original1. No two threads may call it at the same time.
template <class L>
struct WeightNorm : ModuleOf<WeightNorm<L>, typename L::device_type, typename L::value_type> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  using D = typename L::device_type;
  using T = typename L::value_type;

  mutable L layer;  // without its weight
  Parameter<D, T> original0, original1;
  Index dim = 0;

  explicit WeightNorm(L given, WeightNormOptions options = {}, CallSite here = {})
      : layer(std::move(given)), dim(options.dim) {
    const CallScope scope(here);
    const Tensor<D, T> v = detail::take_weight("weight_norm", layer, here);
    if (dim != -1) detail::dim_first({"weight_norm", here}, dim, v.dim());
    original0 = norm_of(v);
    original1 = v;
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.layer);
    visit("parametrizations.weight.original0", self.original0);
    visit("parametrizations.weight.original1", self.original1);
  }
  TERN_NAMED_LAYER(WeightNorm, layer, original0, original1, dim)

  Tensor<D, T> weight() const {
    const auto& v = original1.promoted();
    return to_type(v * (original0.promoted() / norm_of(v)), tern::detail::Type<T>{});
  }
  template <class... X>
  auto forward(X&&... x) const {
    return detail::call_with_weight(layer, weight(), static_cast<X&&>(x)...);
  }

 private:
  template <class U>
  Tensor<D, U> norm_of(const Tensor<D, U>& v) const {
    if (dim == -1) return norm(v);
    tern::detail::Dims others;
    const tern::detail::Dims order = detail::dim_first({"weight_norm", CallSite::unknown}, dim, v.dim());
    for (int i = 1; i < order.n; ++i) others.push_back(order[i]);
    return others.empty() ? abs(v) : norm(v, 2, others, true);
  }
};

/// The layer with the weight W / σ, where σ = uᵀ W v is the largest singular value of the weight W as a matrix, by
/// power iteration (Miyato et al.: "Spectral normalization for generative adversarial networks", 2018). Each call in
/// training improves u and v. A weight of one dimension is divided by its norm. No two threads may call it at the same
/// time.
template <class L>
struct SpectralNorm : ModuleOf<SpectralNorm<L>, typename L::device_type, typename L::value_type> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  using D = typename L::device_type;
  using T = typename L::value_type;
  using Wide = compute_t<T>;

  mutable L layer;  // without its weight
  Parameter<D, T> original;
  Buffer<D, T> u, v;  // none for a weight of one dimension
  SpectralNormOptions options;

  explicit SpectralNorm(L given, SpectralNormOptions chosen = {}, CallSite here = {})
      : layer(std::move(given)), options(chosen) {
    const CallScope scope(here);
    original = detail::take_weight("spectral_norm", layer, here);
    if (!options.dim) options.dim = detail::row_dim<L>;
    detail::dim_first({"spectral_norm", here}, *options.dim, original.dim());
    if (options.n_power_iterations <= 0)
      Error::fail({"spectral_norm", here}, {"n_power_iterations must be positive, not ", options.n_power_iterations});
    if (original.dim() == 1) return;
    const NoGradGuard off;
    const Tensor<D, Wide> matrix = rows();
    u = normalize(randn<D, Wide>({matrix.size(0)}, original.device()), 2, 0, options.eps);
    v = normalize(randn<D, Wide>({matrix.size(1)}, original.device()), 2, 0, options.eps);
    improve(15);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.layer);
    visit("parametrizations.weight.original", self.original);
    visit("parametrizations.weight.0._u", self.u);
    visit("parametrizations.weight.0._v", self.v);
  }
  TERN_NAMED_LAYER(SpectralNorm, layer, original, u, v, options)

  Tensor<D, T> weight() const {
    const auto& w = original.promoted();
    if (!u.defined()) return to_type(normalize(w, 2, 0, options.eps), tern::detail::Type<T>{});
    const Tensor<D, Wide> left = tern::clone(u), right = tern::clone(v);  // the next call changes u and v
    return to_type(w / dot(left, mv(rows(), right)), tern::detail::Type<T>{});
  }
  template <class... X>
  auto forward(X&&... x) const {
    if (this->is_training() && u.defined()) improve(options.n_power_iterations);
    return detail::call_with_weight(layer, weight(), static_cast<X&&>(x)...);
  }

 private:
  Tensor<D, Wide> rows() const {
    return flatten(permute(original.promoted(),
                           detail::dim_first({"spectral_norm", CallSite::unknown}, *options.dim, original.dim())),
                   1);
  }
  void improve(Index steps) const {
    const NoGradGuard off;
    const Tensor<D, Wide> matrix = rows();
    for (Index i = 0; i < steps; ++i) {
      copy_(u, normalize(mv(matrix, v), 2, 0, options.eps));
      copy_(v, normalize(mv(transpose(matrix, 0, 1), u), 2, 0, options.eps));
    }
  }
};

/// layer with weight normalisation.
template <IsModule L>
WeightNorm<L> weight_norm(L layer, WeightNormOptions options = {}, CallSite here = {}) {
  return WeightNorm<L>(std::move(layer), options, here);
}

/// The same with PyTorch's arguments. The name is "weight".
template <IsModule L>
WeightNorm<L> weight_norm(L layer, std::string_view name, Index dim = 0, CallSite here = {}) {
  detail::check_name({"weight_norm", here}, name);
  return WeightNorm<L>(std::move(layer), {dim}, here);
}

/// layer with spectral normalisation.
template <IsModule L>
SpectralNorm<L> spectral_norm(L layer, SpectralNormOptions options = {}, CallSite here = {}) {
  return SpectralNorm<L>(std::move(layer), options, here);
}

/// The same with PyTorch's arguments. The name is "weight".
template <IsModule L>
SpectralNorm<L> spectral_norm(L layer, std::string_view name, Index n_power_iterations = 1, double eps = 1e-12,
                              std::optional<Index> dim = {}, CallSite here = {}) {
  detail::check_name({"spectral_norm", here}, name);
  return SpectralNorm<L>(std::move(layer), {n_power_iterations, eps, dim}, here);
}

namespace utils {
using nn::spectral_norm;
using nn::weight_norm;
namespace parametrizations {
using nn::spectral_norm;
using nn::weight_norm;
}  // namespace parametrizations
}  // namespace utils

}}}  // namespace tern::nn
