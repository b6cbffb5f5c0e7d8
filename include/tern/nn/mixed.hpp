// Mixed: a network whose layers compute in 16 bits and whose parameters are floats.
#pragma once
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

/// The types of the floats that 16-bit parameters are copies of.
template <class S>
struct LearnedTypes;
template <class... D, class... T>
struct LearnedTypes<Set<tern::detail::TensorType<D, T>...>>
    : UnionOf<Set<tern::detail::TensorType<D, compute_t<T>>>...> {};

/// A PackedSequence.
template <class X>
concept Packed = requires(const X& x) {
  x.data;
  x.batch_sizes;
};

/// An argument of a mixed network in elements T: a floating-point tensor, packed sequences, or a tuple of them.
template <class T, class X>
auto in_elements(const X& x) {
  if constexpr (Packed<X>) {
    return x.to(tern::detail::Type<T>{});
  } else if constexpr (TupleLike<X>) {
    return std::apply([](const auto&... each) { return std::make_tuple(in_elements<T>(each)...); }, x);
  } else if constexpr (!is_tensor<X>) {
    return x;
  } else if constexpr (tern::detail::is_floating_v<typename X::value_type>) {
    return x.defined() ? to_type(x, tern::detail::Type<T>{}) : Tensor<typename X::device_type, T>();
  } else {
    return x;
  }
}

/// A result of a mixed network: a 16-bit tensor or packed sequences as floats, alone or in a pair or tuple.
template <class Y>
auto in_floats(const Y& y) {
  if constexpr (is_tensor<Y>) {
    if constexpr (tern::detail::is_half_v<typename Y::value_type>) return to_type(y, f32);
    else return y;
  } else if constexpr (Packed<Y>) {
    return y.to(f32);
  } else if constexpr (TupleLike<Y>) {
    return std::apply([](const auto&... each) { return std::make_tuple(in_floats(each)...); }, y);
  } else {
    return y;
  }
}

/// What the parameters of a network are rounded from, each once.
[[gnu::noinline, gnu::cold]] inline std::vector<std::shared_ptr<Original>> originals(const AnyModule& network) {
  std::vector<std::shared_ptr<Original>> list;
  network.each([&](const Member& m) {
    bool is_new = m.original && *m.original;
    for (const auto& known : list) is_new = is_new && known != *m.original;
    if (is_new) list.push_back(*m.original);
  });
  return list;
}

}  // namespace detail

/// A network Net<D, T> with T = bfloat16 or half whose parameters are floats. Its floating-point inputs are converted
/// to T, and its 16-bit results to float, so it is trained like the float network: parameters(), gradients,
/// state_dict() and the losses of its results are float. nn::mixed makes one.
///
/// Layers and operations between them compute in T with weights that are converted once for each of their versions, by
/// the first forward pass that sees it. Normalisations take their weights and statistics as floats,
/// Parameter::promoted(). Their arithmetic, and that of softmax, is in float.
///
/// Forward passes that record gradients must not run on several threads at once.
template <IsModule Net>
struct Mixed : ModuleOf<Mixed<Net>, typename Net::device_type> {
  using T = typename Net::value_type;
  static_assert(tern::detail::is_half_v<T>,
                "a mixed network's class has an element type: template <Device D, class T = float> struct Net");

  Net network;

  template <class From, class D2, class T2>
  explicit Mixed(const Rebuild<From, D2, T2>& from)
      : Mixed::ModuleOf(from), network(from.mixed(from.source.network)), originals_(detail::originals(network)) {}
  /// The mixed network of `net`.
  template <class From>
  Mixed(const From& net, detail::Converted& done)
      : network(Rebuild<From, typename Net::device_type, T>(net, nullptr, done)),
        originals_(detail::originals(network)) {}
  Mixed(Mixed&&) = default;
  Mixed& operator=(Mixed&&) = default;

  static constexpr const char* type_name() { return "Mixed"; }
  /// Without a name, so that tensors are called as in the float network.
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.network);
  }
  TERN_MODULE_CLASS(Mixed, typename detail::LearnedTypes<typename detail::TensorTypesOf<Net>::type>::type)

  template <class... X>
    requires requires(Net& net, const X&... x) { net.forward(detail::in_elements<T>(x)...); }
  auto forward(const X&... x) {
    refresh();
    return detail::in_floats(network(detail::in_elements<T>(x)...));
  }
  template <class... X>
    requires requires(const Net& net, const X&... x) { net.forward(detail::in_elements<T>(x)...); }
  auto forward(const X&... x) const {
    refresh();
    return detail::in_floats(network(detail::in_elements<T>(x)...));
  }

 private:
  void refresh() const { detail::Original::refresh(originals_); }

  std::vector<std::shared_ptr<detail::Original>> originals_;
};

namespace detail {

template <class M, class D, class T>
struct Rebind<Mixed<M>, D, T> {
  static_assert(std::is_same_v<T, float>,
                "a mixed network has no other element type: load its state_dict() into another network");
  using type = Mixed<rebind_t<M, D, typename M::value_type>>;
};

}  // namespace detail

/// The network in 16 bits, which learns net's own parameters, as under PyTorch's autocast: a step of either's optimiser
/// is seen by both, and so are the running statistics. What net has in another type than float is copied.
///
///   auto mixed = nn::mixed<bfloat16>(net);
///   optim::SGD sgd(net.parameters(), {.lr = 0.1});
///   cross_entropy(mixed(x), y).backward();
template <Floating T, IsModule M>
  requires tern::detail::is_half_v<T>
auto mixed(const M& net) {
  detail::check_listed(net);
  detail::Converted done;
  done.mixed = done.shared = true;
  return Mixed<detail::rebind_t<M, typename M::device_type, T>>(net, done);
}
/// In the network's own type, a network with the same tensors: autocast that is switched off.
template <Floating T, IsModule M>
  requires(!tern::detail::is_half_v<T>)
auto mixed(const M& net) {
  static_assert(std::is_same_v<T, typename M::value_type>,
                "mixed<T>(net): T is bfloat16 or half, or the network's own type, which changes nothing");
  detail::check_listed(net);
  detail::Converted done;
  done.shared = true;
  return detail::rebind_t<M, typename M::device_type, T>(Rebuild<M, typename M::device_type, T>(net, nullptr, done));
}

}}}  // namespace tern::nn
