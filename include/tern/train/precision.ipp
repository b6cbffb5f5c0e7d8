// The functions of precision.hpp that are not templates.
#pragma once
#include "../backend/cpu/matmul/tile_matmul.hpp"
#include "../backend/cpu/onednn/onednn.hpp"
#include "../device/device.hpp"
#include "precision.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

TERN_COLD Bfloat16 bfloat16_on_cpu() {
  namespace onednn = tern::detail::onednn;
  if (!onednn::has_bfloat16()) return Bfloat16::as_float;
  return DNNL_VERSION_MAJOR < 3 && backend::matmul_detail::has_tiles() ? Bfloat16::without_amx : Bfloat16::best;
}

}  // namespace detail

TERN_COLD void check_precision(const std::string& precision, const char* device) {
  check_choice("--precision", precision, {"f32", "bf16", "f16", "bf16-weights"});
  if (precision == "f16" && device == std::string(DeviceTraits<Cpu>::name))
    fail("options", {"--precision f16 is not for the CPU: its kernels use no processor's instructions for half, they "
                     "convert it and compute "
                     "in float, slower than f32; take bf16 or a GPU"});
}

TERN_COLD std::string precision_note(const std::string& precision, const char* device, detail::Bfloat16 on_cpu) {
  using detail::Bfloat16;
  if (!precision.starts_with("bf16") || device != std::string(DeviceTraits<Cpu>::name) || on_cpu == Bfloat16::best)
    return "";
  if (on_cpu == Bfloat16::without_amx)
    return tern::detail::text({"--precision ", precision, " is slow in convolutions: oneDNN ", build_info().onednn,
                               " does not use this processor's AMX, oneDNN 3 does (README.md, \"oneDNN\").\n"});
  return tern::detail::text({"--precision ", precision,
                             " is slower than f32 on this processor: oneDNN finds neither AVX512-BF16 nor AMX.\n"});
}

}}}  // namespace tern::train
