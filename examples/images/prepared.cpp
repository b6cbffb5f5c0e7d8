#include "prepared.hpp"

std::vector<std::string> start(const nn::AnyModule& net, const std::vector<nn::NamedModule>& layers, const Heads& heads,
                               const ImageOptions& options) {
  std::vector<std::string> new_layers;
  if (!options.weights.empty()) {
    models::LoadOptions load;
    if (!options.evaluate) {
      load.may_differ = {heads.last};
      load.may_differ.insert(load.may_differ.end(), heads.auxiliary.begin(), heads.auxiliary.end());
    }
    new_layers = models::load_weights(net, options.weights, load);
  }
  if (options.freeze) {
    nn::requires_grad_(net, false);
    for (const nn::NamedModule& layer : layers)
      if (layer.name == heads.last) nn::requires_grad_(layer.module, true);
  }
  return new_layers;
}
