// How a module is built anew from another one: as a copy, on another device, or with another element type.
#pragma once
#include <utility>
#include <vector>

#include "../autograd/record.hpp"
#include "../ops/transfer.hpp"
#include "parameter.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

template <class X, class D, class T>
struct Rebind;
/// The type of a module, a tensor, a container of these or a plain value after a move to another device or element
/// type. Whole numbers stay whole numbers.
template <class X, class D, class T>
using rebind_t = typename Rebind<X, D, T>::type;

// How a type is rebound by the form of its template. Overloads of functions, because g++ 12 loses constraints of
// partial specialisations when it collects garbage.
template <class X>
using Tag = std::type_identity<X>;
template <class X, class D, class T>
Tag<X> rebound(Tag<X>, Tag<D>, Tag<T>);
template <template <Device, Element> class X, Device D0, Element T0, class D, class T>
Tag<X<D, std::conditional_t<tern::detail::is_floating_v<T0>, T, T0>>> rebound(Tag<X<D0, T0>>, Tag<D>, Tag<T>);
template <template <int, Device, Element> class X, int n, Device D0, Element T0, class D, class T>
Tag<X<n, D, T>> rebound(Tag<X<n, D0, T0>>, Tag<D>, Tag<T>);
template <template <Device> class X, Device D0, class D, class T>
Tag<X<D>> rebound(Tag<X<D0>>, Tag<D>, Tag<T>);
template <template <class...> class X, class... A, class D, class T>
  requires(!(Device<A> || ...))
Tag<X<rebind_t<A, D, T>...>> rebound(Tag<X<A...>>, Tag<D>, Tag<T>);
template <template <class, std::size_t> class X, class A, std::size_t n, class D, class T>
Tag<X<rebind_t<A, D, T>, n>> rebound(Tag<X<A, n>>, Tag<D>, Tag<T>);

template <class X, class D, class T>
struct Rebind : decltype(rebound(Tag<X>(), Tag<D>(), Tag<T>())){};
template <class D0, class T0, class D, class T>
struct Rebind<AnyLayer<D0, T0>, D, T> {
  static_assert(
      std::is_same_v<AnyLayer<D0, T0>, AnyLayer<D, T>>,
      "layers of different classes in one list cannot change device or element type: build the network anew and "
      "load_state_dict()");
  using type = AnyLayer<D0, T0>;
};

/// What a copy has converted so far, so that what occurs twice is converted once.
class TERN_API Converted {
 public:
  bool mixed = false;   // 16-bit parameters get float originals
  bool shared = false;  // tensors of the same type are the source's own, or those that add() has put in their place

  Converted() {}
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  [[gnu::noinline, gnu::cold]] ~Converted() {
    while (shared_) delete std::exchange(shared_, shared_->next);
  }

  /// The converted tensor, or null.
  [[gnu::noinline, gnu::cold]] const AnyTensor* find(const tern::detail::TensorImpl* from) const {
    for (const auto& [known, to] : tensors_)
      if (known == from) return &to;
    return nullptr;
  }
  [[gnu::noinline, gnu::cold]] void add(const tern::detail::TensorImpl* from, const AnyTensor& to) {
    tensors_.emplace_back(from, to);
  }

  /// The converted pointer to what stood at the address, or null.
  template <class Pointer>
  const Pointer* find_shared(const void* from) const {
    for (const Shared* s = shared_; s; s = s->next)
      if (const auto* const found = s->from == from ? dynamic_cast<const SharedAs<Pointer>*>(s) : nullptr)
        return &found->to;
    return nullptr;
  }
  template <class Pointer>
  void add_shared(const void* from, const Pointer& to) {
    shared_ = new SharedAs<Pointer>(from, shared_, to);
  }

 private:
  struct Shared {
    Shared(const void* address, Shared* others) : from(address), next(others) {}
    virtual ~Shared() {}
    const void* from;
    Shared* next;
  };
  template <class Pointer>
  struct SharedAs : Shared {
    SharedAs(const void* address, Shared* others, const Pointer& pointer) : Shared(address, others), to(pointer) {}
    Pointer to;
  };

  std::vector<std::pair<const tern::detail::TensorImpl*, AnyTensor>> tensors_;
  Shared* shared_ = nullptr;
};

/// Copies tensors to a device of kind D. A class of its own, because its code is the same for all modules.
template <class D, bool takes_weights_as_floats>
struct Converter {
  const D* device;
  Converted& done;

  /// The member Out made of x, or of the float that x was rounded from.
  template <class Out, class D0, class T0>
  Out learned(const Tensor<D0, T0>& x) const {
    using U = typename Out::value_type;
    if constexpr (requires(Out& out) { out.original(); })
      if (done.mixed) return Out(original<U>(x));
    if constexpr (std::is_same_v<Tensor<D, U>, Tensor<D0, T0>>)
      if (done.shared) {
        const AnyTensor* const given = done.find(x.impl());
        return held<Out>(given ? given->template as<D, U>() : x);
      }
    Out out(copy<U>(x));
    if constexpr (tern::detail::is_floating_v<U>) out.requires_grad_(x.requires_grad());
    return out;
  }

 private:
  /// x itself as a member, which requires a gradient as before.
  template <class Out, class X>
  static Out held(const X& x) {
    const bool on = x.requires_grad();
    Out out(x);
    if constexpr (tern::detail::is_floating_v<typename X::value_type>)
      if (!on) out.requires_grad_(false);
    return out;
  }
  /// A copy of x in floats, or x, as the original of parameters with elements U.
  template <class U, class D0, class T0>
  std::shared_ptr<Original> original(const Tensor<D0, T0>& x) const {
    using Pointer = std::shared_ptr<Original>;
    const Pointer* const known = done.template find_shared<Pointer>(x.impl());
    const Pointer made = known ? *known : new_original<D, U>(floats(x));
    if (!known) done.add_shared(x.impl(), made);
    if constexpr (!takes_weights_as_floats) made->use_rounded();
    return made;
  }
  template <class D0, class T0>
  Tensor<D, float> floats(const Tensor<D0, T0>& x) const {
    if constexpr (std::is_same_v<Tensor<D, float>, Tensor<D0, T0>>)
      if (done.shared) return outliving(x);
    return copy<float>(x).requires_grad_(x.requires_grad());
  }
  /// A copy of x with elements U.
  template <class U, class D0, class T0>
  Tensor<D, U> copy(const Tensor<D0, T0>& x) const {
    if (const AnyTensor* const known = done.find(x.impl())) return known->template as<D, U>();
    const NoGradGuard off;
    const D place = device ? *device : tern::detail::device_at<D>(x.impl()->ordinal);
    Tensor<D, U> y = to_device(to_type(x.detach(), tern::detail::Type<U>{}), place);
    if (y.impl()->owner == x.impl()->owner) y = tern::clone(y);
    done.add(x.impl(), y);
    return outliving(y);
  }
};

}  // namespace detail

/// The source from which a copied or moved module is built. It converts each listed member. A tensor or a shared module
/// that occurs twice (tied weights) is converted once.
template <class Source, class D, class T>
class Rebuild {
 public:
  /// With device null, each tensor stays on its own device.
  Rebuild(const Source& from, const D* device, detail::Converted& done) : source(from), device_(device), done_(done) {}

  const Source& source;

  /// The same for what Source is derived from.
  auto base() const { return Rebuild<detail::base_t<Source>, D, T>(source, device_, done_); }

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (IsModule<X>) {
      return detail::rebind_t<X, D, T>(Rebuild<X, D, T>(x, device_, done_));
    } else if constexpr (detail::is_tensor<X>) {
      return convert(x);
    } else if constexpr (detail::is_any_layer<X>) {
      return detail::rebind_t<X, D, T>(x.clone(device_, done_));
    } else if constexpr (detail::has_tensors<X>) {
      return container<detail::rebind_t<X, D, T>>(x);
    } else {
      return plain(x);
    }
  }

  /// A network of a Mixed, as another one's.
  template <class X>
  auto mixed(const X& network) const {
    const bool outside = std::exchange(done_.mixed, true);
    const Rebuild<X, D, typename X::value_type> from(network, device_, done_);
    auto built = detail::rebind_t<X, D, typename X::value_type>(from);
    done_.mixed = outside;
    return built;
  }

 private:
  template <class X>
  static X plain(const X& x) {
    static_assert(
        detail::is_copyable<X>,
        "clone() and to() copy a listed plain value, and this one cannot be copied: a class with layers must be "
        "an nn::Module that lists them");
    if constexpr (detail::is_copyable<X>) return x;
  }
  template <class Out, class X>
  Out container(const X& x) const {
    if constexpr (detail::Sequence<X>) {
      Out out;
      if constexpr (requires { out.reserve(x.size()); }) out.reserve(x.size());
      for (const auto& element : x) out.push_back((*this)(element));
      return out;
    } else if constexpr (detail::Dictionary<X>) {
      Out out;
      for (const auto& [key, element] : x) out.emplace(key, (*this)(element));
      return out;
    } else if constexpr (detail::TupleLike<X>) {
      return std::apply([this](const auto&... element) { return Out{(*this)(element)...}; }, x);
    } else if constexpr (detail::SharedHolder<X>) {
      if (!x) return Out();
      if (const Out* const known = done_.template find_shared<Out>(&*x)) return *known;
      const Out out(new typename Out::element_type((*this)(*x)));
      done_.add_shared(&*x, out);
      return out;
    } else if constexpr (requires { typename X::element_type; }) {
      return x ? Out(new typename Out::element_type((*this)(*x))) : Out();
    } else {
      return x ? Out((*this)(*x)) : Out();
    }
  }

  template <class X>
  auto convert(const X& x) const {
    using Out = detail::rebind_t<X, D, T>;
    if (!x.defined()) return Out();
    if constexpr (requires { x.original(); })
      if (x.original())
        return converter().template learned<Out>(x.original()->learned().template as<typename X::device_type, float>());
    return converter().template learned<Out>(
        static_cast<const Tensor<typename X::device_type, typename X::value_type>&>(x));
  }
  auto converter() const {
    return detail::Converter<D, requires { Source::takes_weights_as_floats; }>{device_, done_};
  }

  const D* device_;
  detail::Converted& done_;
};

}}}  // namespace tern::nn
