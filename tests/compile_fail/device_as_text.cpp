// expect: a device is part of a tensor's type, not a text: write x.cpu() or x.cuda()
#include <tern/tern.hpp>
using namespace tern;
Tensor<Cuda> f(const Tensor<Cpu>& a) { return a.to("cuda"); }
