// Training ResNet-50 on a GPU: steps on random channels-last images that are there already. cuDNN's algorithms are searched for
// in the step before the timed ones.
#include <tern/models/resnet.hpp>

#include "on_gpu.hpp"

namespace {

using namespace tern;

auto in_tf32() { return models::resnet50<Cuda>(); }
auto in_bfloat16() { return nn::mixed<bfloat16>(models::resnet50<Cuda>()); }

/// Of `batch` images. A float network's products and convolutions are rounded to TF32.
template <class Net>
void resnet50_cuda(benchmark::State& state, Index batch, Net make()) {
  if (!found_gpu(state)) return;
  cuda::allow_tf32_matmul(true);
  cuda::benchmark(true);
  Net net = make();
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
  const auto x = randn<Cuda>({batch, 3, 224, 224}).contiguous(channels_last);
  const auto labels = randint<Cuda>(0, 1000, {batch});
  run_ahead(state, [&] {
    sgd.zero_grad();
    cross_entropy(net(x), labels).backward();
    sgd.step();
  });
}

[[maybe_unused]] const bool added = [] {
  for (const Index batch : {64, 128, 256}) {
    const std::string name = text({"resnet50_cuda_b", batch});
    benchmark::RegisterBenchmark((name + "_tf32").c_str(), resnet50_cuda<decltype(in_tf32())>, batch, in_tf32)->UseRealTime();
    benchmark::RegisterBenchmark((name + "_bf16").c_str(), resnet50_cuda<decltype(in_bfloat16())>, batch, in_bfloat16)->UseRealTime();
  }
  return true;
}();

}  // namespace
