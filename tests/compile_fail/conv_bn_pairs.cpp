// A network whose pairs to fold fuse_for_inference would not find.
// expect: conv_bn_pairs must be: template <class V> void conv_bn_pairs(V&& visit)
#include <tern/tern.hpp>

template <tern::Device D>
struct Net : tern::nn::Module<D, float> {
  tern::nn::Conv2d<D> conv{3, 8, 3};
  tern::nn::BatchNorm2d<D> norm{8};
  TERN_FIELDS(Net, conv, norm)
  void conv_bn_pairs() {}
};

int main() { tern::nn::fuse_for_inference(Net<tern::Cpu>()); }
