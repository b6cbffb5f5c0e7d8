// The models, with their weights and in their precision, each as a Network.
#pragma once
#include <tern/distributed/data_parallel.hpp>
#include <tern/models/models.hpp>
#include <tern/train/fit.hpp>

#include "network.hpp"

/// What of a network depends on the classes.
struct Heads {
  const char* last;                         // the layer with the scores
  std::vector<std::string> auxiliary = {};  // auxiliary heads' layers, and the heads, which files may lack
  double aux_weight = 0;
};

template <Device D, class Net>
class NetworkOf final : public Network<D> {
 public:
  NetworkOf(Net net, bool frozen, const distributed::Communicator& world) : net_(std::move(net), world) {
    this->scaled = train::computes_in_half<Net>;
    if (!frozen) return;
    for (const nn::ModuleRef& layer : net_.modules())
      if (std::string(layer.type_name()) == "BatchNorm2d") frozen_norms_.push_back(layer);
  }

  nn::AnyModule module() const override { return net_; }
  nn::Replicas& replicas() const override { return net_.replicas(); }
  optim::SGD optimizer(const optim::SGDOptions& options) const override { return {net_.parameters(), options}; }
  Tensor<D> scores(const Tensor<D>& images) override { return train::scores_of(net_, images); }
  std::vector<Tensor<D>> training_scores(const Tensor<D>& images) override {
    for (const nn::ModuleRef& norm : frozen_norms_) norm.eval();  // each epoch begins with all in training mode
    const auto x = images.to(dtype<typename Net::value_type>);
    if constexpr (requires(Net& net) { net.forward(x, models::with_aux); }) {
      if (this->aux_weight > 0) {
        const auto all = net_(x, models::with_aux);
        std::vector<Tensor<D>> scores = {all.logits.to(f32)};
        for (const auto& aux : all.aux_logits) scores.push_back(aux.to(f32));
        return scores;
      }
    }
    return {scores(images)};
  }

 private:
  distributed::DistributedDataParallel<Net> net_;
  std::vector<nn::ModuleRef> frozen_norms_;
};

/// Loads weights into a float network and freezes it as the options say. Returns the layers that stay new.
std::vector<std::string> start(const nn::AnyModule& net, const std::vector<nn::NamedModule>& layers, const Heads& heads,
                               const ImageOptions& options);

/// convert makes the network that is trained of a float one.
template <Device D, class Net, class Convert>
std::unique_ptr<Network<D>> prepared(Net net, const Heads& heads, const Setup& setup, const Convert& convert) {
  std::vector<std::string> new_layers = start(net, net.named_modules(), heads, setup.options);
  auto trained = convert(std::move(net));
  auto made = std::make_unique<NetworkOf<D, decltype(trained)>>(std::move(trained), setup.options.freeze, setup.world);
  made->aux_weight = heads.aux_weight;
  made->new_layers = std::move(new_layers);
  return made;
}

/// The model that the options name. Auxiliary heads are for training all of it.
template <Device D, class Convert>
std::unique_ptr<Network<D>> make_model(const Setup& setup, const Convert& convert) {
  const auto& [options, classes, world] = setup;
  const auto make = [&](auto net, const Heads& heads) { return prepared<D>(std::move(net), heads, setup, convert); };
  const std::string& model = options.model;
  const Index size = plan_of(options).size;
  const bool aux = !options.evaluate && !options.freeze;
  if (model == "alexnet") return make(models::alexnet<D>({.num_classes = classes}), {.last = "classifier.6"});
  if (model == "vgg16") return make(models::vgg16<D>({.num_classes = classes}), {.last = "classifier.6"});
  if (model == "resnet18") return make(models::resnet18<D>({.num_classes = classes}), {.last = "fc"});
  if (model == "resnet50") return make(models::resnet50<D>({.num_classes = classes}), {.last = "fc"});
  if (model == "googlenet") {
    Heads heads{.last = "fc"};
    if (aux)
      heads.auxiliary = {"aux1.fc2", "aux2.fc2", "aux1", "aux2"}, heads.aux_weight = models::GoogLeNet<D>::aux_weight;
    return make(models::googlenet<D>({.num_classes = classes, .aux_logits = aux, .transform_input = true}), heads);
  }
  if (model == "mobilenet_v2") return make(models::mobilenet_v2<D>({.num_classes = classes}), {.last = "classifier.1"});
  if (model == "inception_v3") {
    Heads heads{.last = "fc"};
    const bool large = size >= 299;  // else the head's convolution of 5 x 5 does not fit
    if (aux && large)
      heads.auxiliary = {"AuxLogits.fc", "AuxLogits"}, heads.aux_weight = models::InceptionV3<D>::aux_weight;
    return make(models::inception_v3<D>({.num_classes = classes, .aux_logits = aux && large, .transform_input = true}),
                heads);
  }
  if (model == "xception") return make(models::xception<D>({.num_classes = classes}), {.last = "fc"});
  return make(models::vit_b_16<D>({.num_classes = classes, .image_size = size}), {.last = "heads.head"});
}
