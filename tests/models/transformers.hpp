// Transformers held against transformers.json, every recorded module of them.
#pragma once
#include "reference.hpp"

#include <set>

namespace tern_test {

template <class T>
class TransformerReference : public Reference<T> {
 public:
  using typename Reference<T>::D;
  using typename Reference<T>::X;

  TransformerReference(const std::string& folder, const std::string& model)
      : Reference<T>(folder, model, "/transformers.json") {
    for (const auto& [name, unused] : this->row_["eval"]["modules"].items()) unseen_.insert(name);
  }

  Tensor<D, Index> tokens() const {
    std::vector<double> all;
    for (const auto& line : this->row_["input"]) all.insert(all.end(), line.begin(), line.end());
    return tensor_of<D, Index>(all, {2, Index(all.size() / 2)});
  }
  /// The loss of a language model: each token is the label of the one before it.
  static X language_loss(const X& logits, const Tensor<D, Index>& tokens) {
    const Index n = tokens.size(1) - 1;
    return cross_entropy(logits.narrow(1, 0, n).flatten(0, 1), tokens.narrow(1, 1, n).flatten());
  }

  /// From now on the outputs of the network's modules of the classes M are checked, those that are recorded.
  template <class... M, class Net>
  void watch(Net& net) {
    for (const nn::NamedModule& named : net.named_modules())
      if (unseen_.count(named.name)) (hook(named.name, named.module.template as<M>()), ...);
  }
  /// The output of a module, or of what is one there and not here.
  void module(const std::string& name, const X& y) {
    INFO(name);
    const auto& recorded = this->row_["eval"]["modules"].at(name);
    CHECK(y.shape() == this->shape(recorded[0]));
    this->check(this->norm(y), recorded[1], this->value_tolerance);
    unseen_.erase(name);
  }
  /// No output is checked any more. All that are recorded have been.
  void watched() {
    for (nn::HookHandle& handle : hooks_) handle.remove();
    for (const std::string& name : unseen_) FAIL_CHECK(name << " is not checked");
  }

 private:
  template <class M>
  void hook(const std::string& name, M* m) {
    if (m) hooks_.push_back(m->register_forward_hook([this, name](M&, const auto&, const X& y) { module(name, y); }));
  }

  std::set<std::string> unseen_;
  std::vector<nn::HookHandle> hooks_;
};

}  // namespace tern_test
