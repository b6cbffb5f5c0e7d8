// AnyNetwork: a network of any class, so that what trains it is compiled once for a device and an element type, not for
// each network.
#pragma once
#include "fit.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train::detail {

/// Any module that takes a Tensor<D, In> and returns a Tensor<D, T>. Unlike an nn::AnyLayer it cannot be copied: a copy
/// is what a network is compiled to the most of.
template <Device D, Element T, Element In>
class HeldNetwork {
 public:
  template <nn::IsModule Net>
  explicit HeldNetwork(Net net) : held_(new Holds<Net>(std::move(net))) {}
  Tensor<D, T> operator()(const Tensor<D, In>& x) const { return held_->call(x); }
  void walk(nn::detail::Walk& walk) const { held_->walk(walk); }

 private:
  struct Held {
    virtual ~Held() {}
    virtual Tensor<D, T> call(const Tensor<D, In>& x) = 0;
    virtual void walk(nn::detail::Walk& walk) const = 0;
  };
  template <class Net>
  struct Holds final : Held {
    explicit Holds(Net&& net) : content(std::move(net)) {}
    Tensor<D, T> call(const Tensor<D, In>& x) override { return content(x); }
    void walk(nn::detail::Walk& walk) const override { walk.member(content); }
    Net content;
  };
  std::unique_ptr<Held> held_;
};

}}}  // namespace tern::train::detail

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {
template <class D, class T, class In>
inline constexpr bool is_any_layer<train::detail::HeldNetwork<D, T, In>> = true;
}}}  // namespace tern::nn::detail

namespace tern { inline namespace TERN_BUILD { namespace train {

/// Holds any network that takes a Tensor<D, In> and returns a Tensor<D, T>. Its tensors are called as the network's
/// own.
template <Device D, Element T = float, Element In = T>
struct AnyNetwork : nn::ModuleOf<AnyNetwork<D, T, In>, D, T> {
  bool in_half;  // whether its layers compute in half, so that the loss must be scaled

  template <nn::IsModule Net>
    requires(!std::is_same_v<Net, AnyNetwork>)
  explicit AnyNetwork(Net net) : in_half(computes_in_half<Net>), network_(std::move(net)) {}
  AnyNetwork(AnyNetwork&&) = default;

  static constexpr const char* type_name() { return "AnyNetwork"; }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.network_);
  }
  TERN_MODULE_CLASS(AnyNetwork, nn::detail::Set<tern::detail::TensorType<D, T>>)

  Tensor<D, T> forward(const Tensor<D, In>& x) const { return network_(x); }

 private:
  detail::HeldNetwork<D, T, In> network_;
};

}}}  // namespace tern::train
