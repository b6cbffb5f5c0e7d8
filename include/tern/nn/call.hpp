// The call of a module: net(x, mask, …), with its hooks, its line and its name in Errors.
#pragma once
#include "../device/events.hpp"
#include "hooks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn { namespace detail {

/// An argument as a call hands it on: tensors as const references, so that the code of a call depends on their types
/// alone.
template <class X>
using Passed = std::conditional_t<is_tensor<std::remove_cvref_t<X>>, const std::remove_cvref_t<X>&, X&&>;

template <class M, class X, class... More>
concept RefusesInput =
    is_tensor<std::remove_cvref_t<X>> &&
    !std::is_same_v<std::remove_cvref_t<X>, Tensor<typename M::device_type, typename M::value_type>> &&
    !requires(M& module, X&& x, More&&... more) {
      module.forward(static_cast<X &&>(x), static_cast<More &&>(more)...);
    };

/// True if M takes no input X because of its device or element type.
template <class M, class... X>
inline constexpr bool refuses = false;
template <class M, class X, class... More>
inline constexpr bool refuses<M, X, More...> = RefusesInput<M, X, More...>;

template <class M, class X>
using RefusedInput = tern::detail::Refusal<
    Tensor<typename std::remove_cvref_t<X>::device_type, typename std::remove_cvref_t<X>::value_type>,
    Tensor<typename M::device_type, typename M::value_type>>;

/// Refuses an input of another device or element type, with the message that ops have.
template <class M, class X, class... More>
RefusedInput<M, X> refuse(const X&, const More&...) TERN_REFUSED(typename X::device_type, typename M::device_type);

/// A call of a module. An Error that passes it names the layer that threw it.
template <class M, class... X>
[[gnu::noinline]] auto call(Hooks* hooks, M& module, const CallSite& here, X&&... x) {
  if constexpr (refuses<M, X...>) {
    return refuse<M>(x...);
  } else if constexpr (!requires { module.forward(static_cast<X &&>(x)...); }) {
    static_assert(sizeof(M) == 0,
                  "the module's forward() does not take these arguments: convert an element type with .to(f32) or "
                  ".to(i64), give an AnyTensor a type with .as<Cpu, float>(), and write a last {} as Tensor<Cpu>()");
  } else {
    const CallScope scope(here);
    const tern::detail::Range range(M::type_name());
    try {
      if (hooks) [[unlikely]]
        return call_hooked(*hooks, module, static_cast<X&&>(x)...);
      return module.forward(static_cast<X&&>(x)...);
    } catch (Error& error) {
      name_layer(error, &module, module);
      throw;
    }
  }
}

/// An argument that a call leaves out.
struct Absent {};

/// An argument of M's that is {}: an undefined tensor, or a value as {} makes it.
template <class M>
struct Braces : Tensor<typename M::device_type, typename M::value_type> {
  template <class X>
  operator X() const {
    return X();
  }
};

/// An argument of a call with several, as it is handed on.
template <class M, class X>
decltype(auto) passed(X&& x) {
  if constexpr (std::is_same_v<X, Absent>) return Braces<M>();
  else return static_cast<Passed<X>>(x);
}

template <class X>
inline constexpr bool is_given = !std::is_same_v<std::remove_cvref_t<X>, Absent>;

/// A call with the arguments up to the last one that is given.
template <class M, class A, class B, class C, class E, class F, class G, class H, class I>
[[gnu::always_inline]] inline auto call_given(Hooks* hooks, M& module, const CallSite& here, A&& a, B&& b, C&& c, E&& e,
                                              F&& f, G&& g, H&& h, I&& i) {
#define TERN_PASSED(X, x) passed<M>(static_cast<X&&>(x))
#define TERN_PASSED_4 TERN_PASSED(A, a), TERN_PASSED(B, b), TERN_PASSED(C, c), TERN_PASSED(E, e)
#define TERN_PASSED_6 TERN_PASSED_4, TERN_PASSED(F, f), TERN_PASSED(G, g)
  if constexpr (is_given<I>) return call(hooks, module, here, TERN_PASSED_6, TERN_PASSED(H, h), TERN_PASSED(I, i));
  else if constexpr (is_given<H>) return call(hooks, module, here, TERN_PASSED_6, TERN_PASSED(H, h));
  else if constexpr (is_given<G>) return call(hooks, module, here, TERN_PASSED_6);
  else if constexpr (is_given<F>) return call(hooks, module, here, TERN_PASSED_4, TERN_PASSED(F, f));
  else if constexpr (is_given<E>) return call(hooks, module, here, TERN_PASSED_4);
  else if constexpr (is_given<C>)
    return call(hooks, module, here, TERN_PASSED(A, a), TERN_PASSED(B, b), TERN_PASSED(C, c));
  else return call(hooks, module, here, TERN_PASSED(A, a), TERN_PASSED(B, b));
#undef TERN_PASSED_6
#undef TERN_PASSED_4
#undef TERN_PASSED
}

}  // namespace detail
}}}  // namespace tern::nn

/// Calls of a module with any number of arguments. Up to eight, an Error names the line of the call. With more, it
/// names that of a call outside.
#define TERN_CALLS_(Self, self, qualifier)                                                                         \
  template <class M_ = Self>                                                                                       \
  auto operator()(::tern::CallSite here_ = {}) qualifier {                                                         \
    return ::tern::nn::detail::call(this->hooks_, static_cast<qualifier M_&>(self), here_);                        \
  }                                                                                                                \
  template <class A_, class M_ = Self>                                                                             \
  auto operator()(A_&& a_, ::tern::CallSite here_ = {}) qualifier {                                                \
    return ::tern::nn::detail::call(this->hooks_, self, here_, static_cast<::tern::nn::detail::Passed<A_>>(a_));   \
  }                                                                                                                \
  template <class A_, class M_ = Self>                                                                             \
    requires(::tern::nn::detail::RefusesInput<M_, A_>)::tern::nn::detail::RefusedInput<M_, A_>                     \
  operator()(A_&&, ::tern::CallSite = {})                                                                          \
      qualifier TERN_REFUSED(typename std::remove_cvref_t<A_>::device_type, typename M_::device_type);             \
  template <class A_, class B_ = ::tern::nn::detail::Absent, class C_ = ::tern::nn::detail::Absent,                \
            class E_ = ::tern::nn::detail::Absent, class F_ = ::tern::nn::detail::Absent,                          \
            class G_ = ::tern::nn::detail::Absent, class H_ = ::tern::nn::detail::Absent,                          \
            class I_ = ::tern::nn::detail::Absent>                                                                 \
  auto operator()(A_&& a_, B_&& b_, C_&& c_ = {}, E_&& e_ = {}, F_&& f_ = {}, G_&& g_ = {}, H_&& h_ = {},          \
                  I_&& i_ = {}, ::tern::CallSite here_ = {}) qualifier {                                           \
    return ::tern::nn::detail::call_given(this->hooks_, self, here_, static_cast<A_&&>(a_), static_cast<B_&&>(b_), \
                                          static_cast<C_&&>(c_), static_cast<E_&&>(e_), static_cast<F_&&>(f_),     \
                                          static_cast<G_&&>(g_), static_cast<H_&&>(h_), static_cast<I_&&>(i_));    \
  }                                                                                                                \
  template <class... X_>                                                                                           \
    requires(sizeof...(X_) > 8)                                                                                    \
  auto operator()(X_&&... x_) qualifier {                                                                          \
    return ::tern::nn::detail::call(this->hooks_, self, ::tern::CallSite::unknown,                                 \
                                    static_cast<::tern::nn::detail::Passed<X_>>(x_)...);                           \
  }
