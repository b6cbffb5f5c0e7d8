// How an op reaches its kernel. Each header of this folder declares the contract of some ops: a struct for each, with its operands and
// options. A device implements one as an overload in its own folder,
//
//   template <class T>
//   void kernel(On<Cpu>, Types<T>, const Softmax& op);
//
// and run<D, T>(Softmax{…}) finds it by argument-dependent lookup where it is instantiated. So no contract names a device, and no
// op changes for a new one.
#pragma once
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD::backend {

/// A device, for overload resolution; which one of its kind, the arrays say.
template <class D>
struct On {};

/// The element types that a kernel is compiled for.
template <class... T>
struct Types {};

/// How the compiled library and its programs call a kernel; for the CPU it chooses between several (cpu/dispatch.hpp).
template <class D, class... T, class Op>
void launch(On<D> device, Types<T...> types, const Op& op) {
  kernel(device, types, op);
}

/// Computes an op on its arrays' device, of kind D.
template <class D, class... T, class Op>
void run(const Op& op) {
#if defined(TERN_COMPILING) || defined(TERN_COMPILED)
  launch(On<D>{}, Types<T...>{}, op);
#else
  kernel(On<D>{}, Types<T...>{}, op);
#endif
}

/// Whether a device of kind D implements Op. All must: this is for ops that their contract makes optional.
template <class D, class Op, class... T>
concept HasKernel = requires(const Op& op) { kernel(On<D>{}, Types<T...>{}, op); };

}  // namespace tern::backend
