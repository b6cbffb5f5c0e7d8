// Batches of pictures as networks are trained with: 2,000 JPEGs of 500 x 375, which the system has in its cache,
// decoded, cropped at random, resized to 224 x 224, mirrored, normalised and put into batches of 32 by two workers.
// benchmarks/run makes the pictures and names their folder in TERN_PICTURES.
#include <benchmark/benchmark.h>
#include <tern/data/image_folder.hpp>
#include <tern/data/transforms.hpp>
#include <tern/tern.hpp>

#include <cstdlib>

namespace {

using namespace tern;
namespace transforms = data::transforms;

void decode_crop_2k(benchmark::State& state) {
  const char* const folder = std::getenv("TERN_PICTURES");
  if (!folder) return state.SkipWithError("TERN_PICTURES names no folder of pictures; start this by benchmarks/run");
  const auto pictures = data::ImageFolder::load(folder);
  auto batches = data::loader<Cpu>(
      data::transformed(pictures, transforms::RandomResizedCrop(224), transforms::RandomHorizontalFlip(),
                        transforms::Normalize({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f})),
      {.batch_size = 32, .shuffle = true, .num_workers = 2});
  for (auto _ : state)
    for (auto& [x, y] : batches) benchmark::DoNotOptimize(x.data());
}
BENCHMARK(decode_crop_2k)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
