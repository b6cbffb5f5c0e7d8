#include "prepared.hpp"

template <Device D>
std::unique_ptr<Network<D>> make_f32(const Setup& setup) {
  return make_model<D>(setup, [](auto net) { return net; });
}
template std::unique_ptr<Network<Cpu>> make_f32(const Setup&);
#ifndef TERN_CPU_ONLY
template std::unique_ptr<Network<Cuda>> make_f32(const Setup&);
#endif
