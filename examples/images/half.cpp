#include <tern/cuda.hpp>
#include <tern/nn/mixed.hpp>

#include "prepared.hpp"

#ifndef TERN_CPU_ONLY
std::unique_ptr<Network<Cuda>> make_f16(const Setup& setup) {
  return make_model<Cuda>(setup, [](const auto& net) { return nn::mixed<half>(net); });
}
#endif
