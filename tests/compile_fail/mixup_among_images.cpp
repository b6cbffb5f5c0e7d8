// expect: a transform of images is called with (data::Image&, data::Random&); MixUp and CutMix take batches
// lines: 25
#include <tern/tern.hpp>
#include <tern/data/transforms.hpp>
using namespace tern;
using namespace tern::data::transforms;
void f(const data::TensorDataset<float, Index>& set) {
  data::transformed(set, RandomHorizontalFlip(), MixUp({.num_classes = 3}));
}
