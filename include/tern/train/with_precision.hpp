// What --precision makes of a network.
#pragma once
#include "../nn/mixed.hpp"
#include "any_network.hpp"
#include "precision.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// Calls f with the network that is trained instead of a float one: itself, one that computes in 16 bits on float
/// parameters (bf16, f16), or one in bfloat16 (bf16-weights). Error as in check_precision.
template <nn::IsModule Net, class F>
auto in_precision(const std::string& precision, Net net, const F& f) {
  check_precision(precision, DeviceTraits<typename Net::device_type>::name);
  if constexpr (!std::is_same_v<typename Net::device_type, Cpu>)  // whose kernels for half are not worth their code
    if (precision == "f16") return f(nn::mixed<half>(net));
  if (precision == "bf16") return f(nn::mixed<bfloat16>(net));
  if (precision == "bf16-weights") return f(net.to(bf16));
  return f(std::move(net));
}

/// The same for an f that takes an AnyNetwork of inputs with elements In, or for float ones with the network's.
template <Element In = float, nn::IsModule Net, class F>
auto with_precision(const std::string& precision, Net net, const F& f) {
  return in_precision(precision, std::move(net), [&]<class Own>(Own own) {
    using T = typename Own::value_type;
    return f(
        AnyNetwork<typename Own::device_type, T, std::conditional_t<std::is_same_v<In, float>, T, In>>(std::move(own)));
  });
}

}}}  // namespace tern::train
