// AnyLayer: a layer of any class, for lists whose layers differ.
#pragma once
#include <memory>

#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// Holds any module that takes a Tensor<D, T> and returns one. A copy of the network copies the layer, but cannot give
/// it another device or element type: its class is not known there. Constness ends at an AnyLayer, as at a pointer.
template <Device D, Element T = float>
class AnyLayer {
 public:
  using device_type = D;
  using value_type = T;

  /// Takes over the module.
  template <IsModule M>
  AnyLayer(M module) : held_(new Holds<M>(std::move(module))) {
    static_assert(
        requires(M& m, const Tensor<D, T>& x) { Tensor<D, T>(m.forward(x)); },
        "an AnyLayer<D, T> holds a module that takes a Tensor<D, T> and returns one");
    using Types = typename detail::TensorTypesOf<M>::type;
    static_assert(
        std::is_same_v<Types, detail::Set<>> || std::is_same_v<Types, detail::Set<tern::detail::TensorType<D, T>>>,
        "the parameters of a module in an AnyLayer<D, T> have elements T on device D");
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return held_->call(x, {}); }
  Tensor<D, T> operator()(const Tensor<D, T>& x, CallSite here = {}) const { return held_->call(x, here); }
  template <class D2, class T2>
    requires(!std::is_same_v<Tensor<D2, T2>, Tensor<D, T>>)
  tern::detail::Refusal<Tensor<D2, T2>, Tensor<D, T>> operator()(const Tensor<D2, T2>&) const TERN_REFUSED(D2, D);

  /// The module, if it is of class M, else null.
  template <IsModule M>
  M* as() const {
    return module().template as<M>();
  }
  ModuleRef module() const { return held_->module(); }
  /// layers[i]->forward(x), as LibTorch's users write.
  const AnyLayer* operator->() const { return this; }

  void walk(detail::Walk& walk) const { held_->walk(walk); }
  AnyLayer clone(const D* device, detail::Converted& done) const { return AnyLayer(held_->clone(device, done)); }

 private:
  struct Held {
    virtual ~Held() {}
    virtual Tensor<D, T> call(const Tensor<D, T>& x, const CallSite& here) = 0;
    virtual ModuleRef module() = 0;
    virtual void walk(detail::Walk& walk) const = 0;
    virtual std::unique_ptr<Held> clone(const D* device, detail::Converted& done) const = 0;
  };
  template <class M>
  struct Holds final : Held {
    explicit Holds(M&& m) : content(std::move(m)) {}
    explicit Holds(const Rebuild<M, D, T>& from) : content(from) {}
    Tensor<D, T> call(const Tensor<D, T>& x, const CallSite& here) override {
      const CallScope scope(here);
      return content(x);
    }
    ModuleRef module() override { return ModuleRef(&content, &detail::module_type<M>); }
    void walk(detail::Walk& walk) const override { walk.member(content); }
    std::unique_ptr<Held> clone(const D* device, detail::Converted& done) const override {
      return std::unique_ptr<Held>(new Holds(Rebuild<M, D, T>(content, device, done)));
    }
    M content;
  };

  explicit AnyLayer(std::unique_ptr<Held> held) : held_(std::move(held)) {}

  std::unique_ptr<Held> held_;
};

}}}  // namespace tern::nn
