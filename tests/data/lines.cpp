// The line in Errors of data sets, samplers and transforms that are made: that of the user's call.
#include "support/tensors.hpp"

#include <tern/data/data.hpp>
#include <tern/data/stream.hpp>
#include <tern/data/text/sequences.hpp>
#include <tern/data/text/vocabulary.hpp>
#include <tern/data/transforms.hpp>
#include <tern/train/accumulation.hpp>

namespace data_lines {
using namespace tern_test;

#define TERN_TEST_LINE(statement) \
  CHECK(line_of(whole_error_of([&] { statement; })) == " (lines.cpp:" + std::to_string(__LINE__) + ")")

TEST_CASE("an Error of a data set, sampler or transform that is made ends with the user's line") {
  using namespace data;
  using namespace data::transforms;
  const TensorDataset set(ones<Cpu>({8, 3}));
  const std::vector<std::tuple<Tensor<Cpu>, Index>> stream(8, {ones<Cpu>({3}), 1});
  TERN_TEST_LINE(TensorDataset(ones<Cpu>({8, 3}), ones<Cpu>({7})));
  TERN_TEST_LINE(Subset(set, {9}));
  TERN_TEST_LINE(random_split(set, {0.9, 0.3}));
  TERN_TEST_LINE(loader<Cpu>(set, {.batch_size = 0}));
  TERN_TEST_LINE(loader<Cpu>(set, {.shuffle = true}, SequentialSampler(8)));
  TERN_TEST_LINE(loader<Cpu>(stream, {.shuffle = true}));
  TERN_TEST_LINE(RandomSampler(0, {.num_samples = 1}));
  TERN_TEST_LINE(WeightedRandomSampler({-1.0}, 1));
  TERN_TEST_LINE(LengthSampler({1, 2}, 0));
  TERN_TEST_LINE(DistributedSampler(8, {.rank = 1}));
  TERN_TEST_LINE(RandomCrop(0));
  TERN_TEST_LINE(CenterCrop(0));
  TERN_TEST_LINE(Resize(0));
  TERN_TEST_LINE(RandomResizedCrop(0));
  TERN_TEST_LINE(RandomHorizontalFlip(2));
  TERN_TEST_LINE(RandomVerticalFlip(2));
  TERN_TEST_LINE(Cutout(0));
  TERN_TEST_LINE(Normalize({0.5f}, {0.f}));
  TERN_TEST_LINE(ColorJitter({.hue = 2}));
  TERN_TEST_LINE(MixUp({.num_classes = 0}));
  TERN_TEST_LINE(CutMix({.num_classes = 0}));
  TERN_TEST_LINE(TextWindows({1, 2}, {.length = 0}));
  TERN_TEST_LINE(LabelledSequences({{1}}, {1, 2}));
  TERN_TEST_LINE(Vocabulary({"a", "a"}));
  TERN_TEST_LINE(train::Accumulation(0, 1, 1));
}

}  // namespace data_lines
