#include <tern/cuda.hpp>
#include <tern/nn/mixed.hpp>

#include "prepared.hpp"

template <Device D>
std::unique_ptr<Network<D>> make_bf16(const Setup& setup) {
  return make_model<D>(setup, [](const auto& net) { return nn::mixed<bfloat16>(net); });
}
template std::unique_ptr<Network<Cpu>> make_bf16(const Setup&);
#ifndef TERN_CPU_ONLY
template std::unique_ptr<Network<Cuda>> make_bf16(const Setup&);
#endif

template <Device D>
std::unique_ptr<Network<D>> make_bf16_weights(const Setup& setup) {
  return make_model<D>(setup, [](const auto& net) { return net.to(bf16); });
}
template std::unique_ptr<Network<Cpu>> make_bf16_weights(const Setup&);
#ifndef TERN_CPU_ONLY
template std::unique_ptr<Network<Cuda>> make_bf16_weights(const Setup&);
#endif
