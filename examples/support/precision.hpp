// --precision: what a trainer's network computes in.
#pragma once
#include <tern/backend/cpu/matmul/tile_matmul.hpp>
#include <tern/backend/cpu/onednn/onednn.hpp>
#include <tern/nn/mixed.hpp>
#include <tern/train/any_network.hpp>

#include "parse.hpp"

namespace support {

/// How the CPU's kernels compute in bfloat16: in float, with all that the processor has for it, or without its AMX,
/// which oneDNN 2 does not use.
enum class Bfloat16 { as_float, best, without_amx };

inline Bfloat16 bfloat16_on_cpu() {
  if (!tern::detail::onednn::has_bfloat16()) return Bfloat16::as_float;
  const bool has_amx = tern::detail::backend::matmul_detail::has_tiles();
  return has_amx && tern::build_info().onednn[0] < '3' ? Bfloat16::without_amx : Bfloat16::best;
}

/// Error unless the precision is one of f32; bf16 and f16, which are nn::mixed; and bf16-weights, which is
/// net.to(bf16). f16 is not for the CPU: its kernels convert half to float and compute in float on any processor, which
/// takes longer than f32.
inline void check_precision(const std::string& precision, const char* device) {
  check_choice("--precision", precision, {"f32", "bf16", "f16", "bf16-weights"});
  if (precision == "f16" && device == std::string(tern::DeviceTraits<tern::Cpu>::name))
    Error::fail("options",
                {"--precision f16 is not for the CPU: its kernels use no processor's instructions for half, they "
                 "convert it and compute "
                 "in float, slower than f32; take bf16 or a GPU"});
}

/// A line that says that bfloat16 is slow there, and what makes it faster; empty if it is not.
inline std::string precision_note(const std::string& precision, const char* device,
                                  Bfloat16 on_cpu = bfloat16_on_cpu()) {
  if (!precision.starts_with("bf16") || device != std::string(tern::DeviceTraits<tern::Cpu>::name) ||
      on_cpu == Bfloat16::best)
    return "";
  if (on_cpu == Bfloat16::without_amx)
    return "--precision " + precision + " is slow in convolutions: oneDNN " + tern::build_info().onednn +
           " does not use this processor's AMX, oneDNN 3 does (README.md, \"oneDNN\").\n";
  return "--precision " + precision +
         " is slower than f32 on this processor: oneDNN finds neither AVX512-BF16 nor AMX.\n";
}

/// Calls f with the network that is trained instead of a float one: itself, one that computes in 16 bits on float
/// parameters (bf16, f16), or one in bfloat16 (bf16-weights). Error as in check_precision.
template <tern::nn::IsModule Net, class F>
auto in_precision(const std::string& precision, Net net, const F& f) {
  check_precision(precision, tern::DeviceTraits<typename Net::device_type>::name);
  if constexpr (!std::is_same_v<typename Net::device_type,
                                tern::Cpu>)  // whose kernels for half are not worth their code
    if (precision == "f16") return f(tern::nn::mixed<tern::half>(net));
  if (precision == "bf16") return f(tern::nn::mixed<tern::bfloat16>(net));
  if (precision == "bf16-weights") return f(net.to(tern::bf16));
  return f(std::move(net));
}

/// The same for an f that takes an AnyNetwork of inputs with elements In, or for float ones with the network's.
template <tern::Element In = float, tern::nn::IsModule Net, class F>
auto with_precision(const std::string& precision, Net net, const F& f) {
  return in_precision(precision, std::move(net), [&]<class Own>(Own own) {
    using T = typename Own::value_type;
    return f(
        tern::train::AnyNetwork<typename Own::device_type, T, std::conditional_t<std::is_same_v<In, float>, T, In>>(
            std::move(own)));
  });
}

}  // namespace support
