// Transfer learning: a ResNet whose last layer is replaced, frozen but for its last stage, with two heads by name.
#include <tern/tern.hpp>
#include <tern/io/safetensors.hpp>
#include <tern/models/models.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
using namespace tern;

template <class Backbone>
struct MultiTask : nn::Module<Cpu> {
  Backbone backbone;
  nn::ModuleDict<nn::Linear<Cpu>> heads;
  nn::ParameterDict<Cpu> log_variances{{"colour", zeros<Cpu>({})}, {"shape", zeros<Cpu>({})}};
  MultiTask(Backbone b, Index features) : backbone(std::move(b)) {
    heads.insert("colour", nn::Linear<Cpu>(features, 3));
    heads.insert("shape", nn::Linear<Cpu>(features, 2));
  }
  TERN_FIELDS(MultiTask, backbone, heads, log_variances)
  std::map<std::string, Tensor<Cpu>> forward(const Tensor<Cpu>& x) {
    const auto h = backbone(x);
    std::map<std::string, Tensor<Cpu>> out;
    for (auto& [name, head] : heads) out[name] = head(h);
    return out;
  }
};

int main() {
  manual_seed(0);
  const auto path = std::filesystem::temp_directory_path() / "tern_backbone.safetensors";
  io::save_safetensors(path, models::resnet18<Cpu>().state_dict());

  auto net = models::resnet18<Cpu>({.num_classes = 10});
  auto state = io::load_safetensors(path);
  try {
    net.load_state_dict(state, false);
  } catch (const Error& error) { std::printf("%s\n", error.what()); }
  std::printf("%s\n", to_string(state["fc.weight"].shape()).c_str());
  for (const char* name : {"fc.weight", "fc.bias"}) state.pop(name);
  const auto [missing, unexpected] = net.load_state_dict(state, false);
  std::printf("missing: %s and %s, unexpected: %zu\n", missing[0].c_str(), missing[1].c_str(), unexpected.size());
  const bool loaded = missing == std::vector<std::string>{"fc.weight", "fc.bias"} && unexpected.empty();

  for (auto& p : net.parameters()) p.requires_grad_(false);
  const auto features = net.fc.in_features;
  net.fc = nn::Linear<Cpu>(features, 16);
  net.layer4.requires_grad_(true);

  MultiTask model(std::move(net), 16);
  optim::SGD opt({{model.backbone.layer4.parameters(), {.lr = 1e-3, .momentum = 0.9}},
                  {model.backbone.fc.parameters(), {.lr = 1e-2, .momentum = 0.9}},
                  {model.heads.parameters(), {.lr = 1e-2, .momentum = 0.9}}});
  opt.add_param_group({model.log_variances.parameters(), {.lr = 1e-2, .momentum = 0.9}});
  optim::StepLR scheduler(opt, {.step_size = 2, .gamma = 0.5});

  const auto before = model.backbone.conv1.weight.detach().clone();
  const auto x = randn<Cpu>({8, 3, 32, 32});
  std::map<std::string, Tensor<Cpu, Index>> target{{"colour", randint<Cpu, Index>(0, 3, {8})},
                                                   {"shape", randint<Cpu, Index>(0, 2, {8})}};
  double first = 0, last = 0;
  for (int step = 0; step < 8; ++step) {
    opt.zero_grad();
    auto out = model(x);
    auto loss = zeros<Cpu>({});
    for (const auto& [name, y] : target) {
      const auto s = model.log_variances[name];
      loss = loss + (-s).exp() * cross_entropy(out[name], y) + s;
    }
    loss.backward();
    opt.step();
    scheduler.step();
    last = loss.item();
    if (step == 0) first = last;
  }
  std::printf("loss %.3f -> %.3f, rates %g and %g\n", first, last, opt.param_groups()[0].lr,
              scheduler.get_last_lr()[1]);
  const bool frozen =
      equal(before, model.backbone.conv1.weight.detach()) && !model.backbone.conv1.weight.grad().defined();
  const auto taken = model.heads.pop("shape");
  const bool gone = !model.heads.contains("shape") && model.heads.keys().size() == 1;
  std::filesystem::remove(path);
  return loaded && frozen && gone && last < first && taken.out_features == 2 ? 0 : 1;
}
