// Rotary position embeddings, also for longer texts than a network was trained on.
#pragma once
#include <numbers>
#include <optional>

#include "../core/choice.hpp"
#include "../ops/cat.hpp"
#include "../ops/trigonometric.hpp"
#include "../ops/where.hpp"
#include "../tensor/creation.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

enum class RopeType {
  unscaled,
  linear,  // all angles are divided by the factor
  llama3,  // those of long waves are (Llama 3.1)
  yarn     // those of the last pairs are, and the attention is sharper (Peng and others: "YaRN", 2023)
};

/// Hugging Face's rope_scaling.
struct RopeScaling {
  tern::detail::Choice<RopeType, "default", "linear", "llama3", "yarn"> rope_type = RopeType::unscaled;
  double factor = 1;
  Index original_max_position_embeddings = 8192;  // of the training: llama3, yarn
  double low_freq_factor = 1,
         high_freq_factor = 4;           // llama3: waves in that length, between which angles are interpolated
  double beta_fast = 32, beta_slow = 1;  // yarn: likewise
  std::optional<double> attention_factor = std::nullopt;  // yarn: of cosines and sines; default: 0.1 ln(factor) + 1
};

/// The share of each pair's angle that is not divided by the factor, in [0, 1]. `turns` are the angles of one position.
template <Device D>
Tensor<D, double> unscaled_share(const Tensor<D, double>& pairs, const Tensor<D, double>& turns, Index size,
                                 double theta, const RopeScaling& s) {
  const double length = double(s.original_max_position_embeddings), circle = 2 * std::numbers::pi;
  if (s.rope_type == RopeType::linear) return zeros_like(pairs);
  if (s.rope_type == RopeType::llama3)
    return clamp((turns * (length / circle) - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor), 0, 1);
  const auto pair_of = [&](double waves) {
    return double(size) * std::log(length / (waves * circle)) / (2 * std::log(theta));
  };
  const double low = std::max(std::floor(pair_of(s.beta_fast)), 0.0);
  const double high = std::min(std::ceil(pair_of(s.beta_slow)), double(size - 1));
  return 1 - clamp((pairs - low) / (high == low ? 0.001 : high - low), 0, 1);
}

/// The cosines and sines [2, n, size] that rotary_embedding() takes, for n positions beside x from `first` on. Pair i
/// of a head is turned by the angle position · theta^(-2i / size), which is scaled as the options say, calculated in
/// doubles.
template <class T, Device D, class X>
Tensor<D, T> rotary_table(const Tensor<D, X>& x, Index first, Index n, Index size, double theta,
                          const RopeScaling& scaling = {}) {
  const auto pairs = tern::detail::arange_like(x, 0, 1, size / 2).to(f64);
  auto turns = exp(pairs * (-2 * std::log(theta) / double(size)));
  if (scaling.rope_type != RopeType::unscaled) {
    const auto share = unscaled_share(pairs, turns, size, theta, scaling);
    turns = turns * (share + (1 - share) / scaling.factor);
  }
  const auto half = tern::detail::arange_like(x, first, 1, n).to(f64).unsqueeze(1) * turns;
  const auto angles = cat<D, double>({half, half}, -1);
  auto table = stack<D, double>({cos(angles), sin(angles)}, 0);
  if (scaling.rope_type == RopeType::yarn)
    table = table * scaling.attention_factor.value_or(0.1 * std::log(scaling.factor) + 1);
  return table.to(tern::detail::Type<T>{});
}

/// Turns each pair (x[i], x[i + size / 2]) of x [.., n, size] by its position's angle (Su and others: "RoFormer:
/// enhanced transformer with rotary position embedding", 2021). The table is rotary_table()'s.
template <Device D, Element T>
Tensor<D, T> rotary_embedding(const Tensor<D, T>& x, const Tensor<D, T>& table) {
  const auto halves = x.chunk(2, -1);
  return x * table.select(0, 0) + cat<D, T>({-halves[1], halves[0]}, -1) * table.select(0, 1);
}

}}}  // namespace tern::models
