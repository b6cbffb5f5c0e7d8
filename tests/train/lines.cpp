// The line in Errors of trainings, checkpoints and models: that of the user's call.
#include "../io/temporary_folder.hpp"
#include "support/tensors.hpp"

#include <tern/data/data.hpp>
#include <tern/models/models.hpp>
#include <tern/train/tensorboard.hpp>
#include <tern/train/train.hpp>

namespace train_lines {
using namespace tern_test;

TEST_CASE("an Error of a training ends with the user's line") {
  using namespace train;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", in_text = folder.put("text", "text") + "/file";
  nn::Linear<Cpu> net(3, 2);
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  const auto x = ones<Cpu>({4, 3});
  const auto labels = zeros<Cpu, Index>({4}), wrong = full<Cpu, Index>({4}, 2);
  const auto batches_of = [&](const auto& y) {
    return data::loader<Cpu>(data::TensorDataset(x, y), {.batch_size = 2, .num_workers = 0});
  };
  auto batches = batches_of(labels),
       none = data::loader<Cpu>(data::TensorDataset(x.narrow(0, 0, 0), labels.narrow(0, 0, 0)));
  const FitParts quiet{.verbose = false};
  CsvLogger log(in_text);
  TensorBoard board(in_text);
  TERN_TEST_LINE(fit(net, sgd, none, {}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches, {.accumulate = 0}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches, {.save = in_text}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches, {.resume = missing}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches, {.target = 1}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches_of(wrong), {}, quiet));
  TERN_TEST_LINE(fit(net, sgd, batches, {}, {.verbose = false, .callbacks = {&log}}));
  TERN_TEST_LINE(fit(net, sgd, batches, {}, {.verbose = false, .callbacks = {&board}}));
  const auto two_losses = [](const auto& a, const auto&) { return Step<Cpu>{a.sum(1), 2}; };
  TERN_TEST_LINE(fit(net, sgd, batches, two_losses, {}, quiet));
  TERN_TEST_LINE(save_checkpoint(in_text, net));
  TERN_TEST_LINE(load_checkpoint(missing, net));
  TERN_TEST_LINE(load_checkpoint("no such folder/file", net, sgd));
  TERN_TEST_LINE(SummaryWriter(in_text));
}

TEST_CASE("an Error of a step of the program's own names the line in the step") {
  nn::Linear<Cpu> net(3, 2);
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  auto batches = data::loader<Cpu>(data::TensorDataset(ones<Cpu>({4, 2})), {.num_workers = 0});
  const int line = __LINE__ + 1;
  const auto step = [&](const auto& x) { return train::Step<Cpu>{net(x).sum(), 1}; };
  CHECK(line_of(whole_error_of([&] { train::fit(net, sgd, batches, step, {}, {.verbose = false}); })) ==
        " (lines.cpp:" + std::to_string(line) + ")");
}

TEST_CASE("an Error of a model that is made or loaded ends with the user's line") {
  using namespace models;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing";
  nn::Linear<Cpu> net(3, 2);
  TERN_TEST_LINE(load_weights(nn::AnyModule(net), missing));
  TERN_TEST_LINE(load_config(missing));
  TERN_TEST_LINE(alexnet<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(googlenet<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(inception_v3<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(mobilenet_v2<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(resnet18<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(resnet50<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(resnet20<Cpu>(-1));
  TERN_TEST_LINE(vgg16<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(vit_b_16<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(xception<Cpu>({.num_classes = -1}));
  TERN_TEST_LINE(GPT2LMHeadModel<Cpu>({.n_layer = 0}));
  TERN_TEST_LINE(LlamaForCausalLM<Cpu>({.num_hidden_layers = 0}));
  TERN_TEST_LINE(BertForSequenceClassification<Cpu>({.hidden_size = 7}));
}

}  // namespace train_lines
