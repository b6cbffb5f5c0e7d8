// How an op finds its kernel. Each header of this folder declares the contract of some ops: one struct each, with
// operands and options. A device implements an op by an overload in its own folder,
//
//   template <class T>
//   void kernel(On<Cpu>, Types<T>, const Softmax& op);
//
// and run<D, T>(Softmax{…}) finds it by argument-dependent lookup at the point of instantiation. So no contract names a
// device, and a new device changes no op.
#pragma once
#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// A device's type, for overload resolution. The arrays hold the device's number.
template <class D>
struct On {};

/// The element types that a kernel is compiled for.
template <class... T>
struct Types {};

/// Any element types: a kernel that is one function for all, because it finds them in its arrays.
struct AnyTypes {
  template <class... T>
  AnyTypes(Types<T...>) {}
};

/// True for an elementwise function that only the program has, such as the lambda of a fuse(): the compiled library has
/// no kernel of it.
template <class F>
inline constexpr bool of_program = false;
template <template <class> class Wrapper, class F>
inline constexpr bool of_program<Wrapper<F>> = of_program<F>;
template <template <int, class> class Wrapper, int k, class F>
inline constexpr bool of_program<Wrapper<k, F>> = of_program<F>;

/// Nobody calls this one: with a function of this name in the namespace, a call does not find a variable that a program
/// has defined before, and looks at its arguments.
void kernel();

/// How the compiled library and its programs call a kernel. For the CPU it chooses between several (cpu/dispatch.hpp).
template <class D, class... T, class Op>
void launch(On<D> device, Types<T...> types, const Op& op) {
  kernel(device, types, op);
}

/// Runs an op on the device, of kind D, that holds its arrays.
template <class D, class... T, class Op>
void run(const Op& op) {
#if defined(TERN_COMPILING) || defined(TERN_COMPILED)
  launch(On<D>{}, Types<T...>{}, op);
#else
  kernel(On<D>{}, Types<T...>{}, op);
#endif
}

/// Whether devices of kind D implement Op. They must, unless the op's contract says otherwise.
template <class D, class Op, class... T>
concept HasKernel = requires(const Op& op) { kernel(On<D>{}, Types<T...>{}, op); };

}}}  // namespace tern::detail::backend
