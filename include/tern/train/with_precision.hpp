// What --precision makes of a network.
#pragma once
#include "../nn/mixed.hpp"
#include "precision.hpp"

namespace tern::inline TERN_BUILD::train {

/// Calls f(convert), where convert(net) is the network that is trained instead of a float one: itself, one that computes in 16 bits on float
/// parameters (bf16, f16), or one in bfloat16 (bf16-weights). Error as in check_precision.
template <class F>
auto with_precision(const std::string& precision, const char* device, const F& f) {
  check_precision(precision, device);
  if (precision == "bf16") return f([](const auto& net) { return nn::mixed<bfloat16>(net); });
  if (precision == "f16") return f([](const auto& net) { return nn::mixed<half>(net); });
  if (precision == "bf16-weights") return f([](const auto& net) { return net.to(bf16); });
  return f([](auto net) { return net; });
}

}  // namespace tern::train
