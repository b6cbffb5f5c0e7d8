#include "prepared.hpp"

namespace {

/// Weights of another model: the start of the list of what is missing and unexpected says enough.
[[noreturn]] void refuse_weights(const ImageOptions& options, const std::string& why) {
  constexpr std::size_t longest = 300;
  throw std::runtime_error("images: --weights '" + options.weights + "' for " + options.model + ": " +
                           why.substr(0, longest) + (why.size() > longest ? " …" : ""));
}

}  // namespace

std::vector<std::string> start(const nn::AnyModule& net, const std::vector<nn::NamedModule>& layers, const Heads& heads,
                               const ImageOptions& options) {
  std::vector<std::string> new_layers;
  if (!options.weights.empty()) {
    models::LoadOptions load;
    if (!options.evaluate) {
      load.may_differ = {heads.last};
      load.may_differ.insert(load.may_differ.end(), heads.auxiliary.begin(), heads.auxiliary.end());
    }
    try {
      new_layers = models::load_weights(net, options.weights, load);
    } catch (const Error& error) { refuse_weights(options, error.what()); }
  }
  if (options.freeze) {
    nn::requires_grad_(net, false);
    for (const nn::NamedModule& layer : layers)
      if (layer.name == heads.last) nn::requires_grad_(layer.module, true);
  }
  return new_layers;
}
