// Training ResNet-50 on a GPU: steps on random channels-last images that are there already. cuDNN's algorithms are searched for
// in the step before the timed ones.
#include <tern/models/resnet.hpp>

#include "on_gpu.hpp"

namespace {

using namespace tern;

/// Of `batch` images; float's products and convolutions rounded to TF32, or all in bfloat16 but the optimiser's weights.
template <class T>
void resnet50_cuda(benchmark::State& state, Index batch) {
  if (!found_gpu(state)) return;
  cuda::allow_tf32_matmul(true);
  cuda::cudnn_benchmark(true);
  auto net = models::resnet50<Cuda, T>();
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
  const auto x = randn<Cuda, T>({batch, 3, 224, 224}).contiguous(channels_last);
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
    benchmark::RegisterBenchmark((name + "_tf32").c_str(), resnet50_cuda<float>, batch)->UseRealTime();
    benchmark::RegisterBenchmark((name + "_bf16").c_str(), resnet50_cuda<bfloat16>, batch)->UseRealTime();
  }
  return true;
}();

}  // namespace
