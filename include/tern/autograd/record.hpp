// record(op, output, wrt(input, saved(tensors...), gradient)...) puts an op on the tape, with one gradient lambda for
// each input. If an input does not need a gradient, its lambda and the saved tensors are dropped.
#pragma once
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../tensor/tensor.hpp"
#include "node.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// The GradOps of a device and element type. Defined beside the ops that they use.
template <class D, class T>
struct GradOpsFor;

inline constexpr int max_edges = 255;  // of one node

/// A possible edge. Whether it is needed is not known yet.
struct EdgePlan {
  TensorImpl* const* inputs;
  EdgeFunction fn;
  void* closure;
  TensorImpl* const* saved;
  std::uint8_t input_count, saved_count;
  bool plain;  // a copy of the closure's bytes is a copy of the closure
  std::uint16_t closure_bytes;
};

/// The node of a tensor that needs a gradient, else null. If the base of a view was written after the view was made,
/// the view gets a new node.
TERN_API Node* grad_node(TensorImpl* p);

/// The node of a tensor if an op on it must be recorded, else null.
inline Node* recording(TensorImpl* p) { return tape.grad_mode ? grad_node(p) : nullptr; }

constexpr std::uint32_t align8(std::uint32_t n) { return (n + 7) & ~7u; }

/// Saves `tensor` for the backward pass of `output`'s op.
TERN_API Saved save(TensorImpl* tensor, const TensorImpl* output, const CallSite& op);

TERN_API void record_edges(const CallSite& op, const GradOps* ops, TensorImpl* output, const EdgePlan* plans,
                           int count);

/// An edge function for a gradient function that needs no types: f(gradient) returns a new reference.
template <class F>
void run_plain_edge(void* stored, TensorImpl* gradient, TensorImpl** inputs, ShapeRef) {
  inputs[0] = (*static_cast<const F*>(stored))(gradient);
}

/// The edge to an input whose gradient is f(gradient). f is copied as bytes.
template <class F>
EdgePlan plain_edge(TensorImpl* const& input, F& f) {
  static_assert(std::is_trivially_copyable_v<F>);
  return {&input, &run_plain_edge<F>, &f, nullptr, 1, 0, true, std::uint16_t(sizeof(F))};
}

/// Records y, which was computed from x alone, if necessary. Takes y and returns it.
TERN_API TensorImpl* recorded(const CallSite& op, TensorImpl* y, TensorImpl* x, const EdgePlan& plan);
template <class F>
TensorImpl* recorded(const CallSite& op, TensorImpl* y, TensorImpl* x, F f) {
  return recorded(op, y, x, plain_edge(x, f));
}

/// The gradient function of an op that leaves the elements unchanged.
struct Unchanged {
  TensorImpl* operator()(TensorImpl* g) const {
    retain(g);
    return g;
  }
};

/// The same for record.
inline constexpr auto unchanged = [](const auto& g) { return g; };

/// A typed handle of an impl. It does not own a reference.
template <class X>
union Borrowed {
  X tensor;
  explicit Borrowed(TensorImpl* impl) noexcept : tensor(impl) {}
  ~Borrowed() {}
};

template <class F>
inline constexpr bool is_plain_closure = std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;

/// Which inputs of a joint gradient function need their gradient.
class NeedsInputGrad {
 public:
  explicit NeedsInputGrad(unsigned bits) : bits_(bits) {}
  bool operator[](int i) const { return bits_ >> i & 1; }

 private:
  unsigned bits_;
};

/// f(x...). If f takes a ShapeRef first, f(shape, x...), where shape is that of the input whose gradient it computes.
template <class F, class... X>
decltype(auto) call_gradient(F& f, ShapeRef shape, const X&... x) {
  if constexpr (std::is_invocable_v<F&, ShapeRef, const X&...>) return f(shape, x...);
  else return f(x...);
}

/// Calls a stored closure with the gradient and the saved tensors as typed tensors.
template <class Out, class Inputs, class F, class Sequence, class... S>
struct EdgeThunk;

template <class Out, class... In, class F, std::size_t... I, class... S>
struct EdgeThunk<Out, std::tuple<In...>, F, std::index_sequence<I...>, S...> {
  static void run(void* stored, TensorImpl* gradient, TensorImpl** inputs, ShapeRef shape) {
    auto* saved = static_cast<Saved*>(stored);
    auto* f = reinterpret_cast<F*>(saved + sizeof...(S));
    if constexpr (!is_plain_closure<F>) {
      if (!gradient) {
        if (inputs) new (f) F(static_cast<F&&>(*reinterpret_cast<F*>(inputs)));
        else f->~F();
        return;
      }
    }
    const Borrowed<Out> g(gradient);
    if constexpr (sizeof...(In) == 1) {
      inputs[0] = (In(call_gradient(*f, shape, g.tensor, Borrowed<S>(saved[I].impl).tensor...)).release(), ...);
    } else {
      unsigned wanted = 0;
      for (unsigned k = 0; k < sizeof...(In); ++k) wanted |= unsigned(inputs[k] != nullptr) << k;
      std::tuple<In...> gradients =
          call_gradient(*f, shape, g.tensor, Borrowed<S>(saved[I].impl).tensor..., NeedsInputGrad(wanted));
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((inputs[K] = std::move(std::get<K>(gradients)).release()), ...);
      }(std::index_sequence_for<In...>{});
    }
  }
};

template <class... S>
struct SavedList {
  TensorImpl* impl[sizeof...(S) + 1];
};

template <class... X>
struct InputList {
  TensorImpl* impl[sizeof...(X)];
};

/// A description of one edge, or of a joint group of edges.
template <class F, class Inputs, class SavedTypes>
struct Wrt;

template <class F, class... In, class... S>
struct Wrt<F, InputList<In...>, SavedList<S...>> {
  InputList<In...> inputs;
  SavedList<S...> saved;
  F f;

  bool needed() const {
    for (TensorImpl* input : inputs.impl)
      if (input && (input->node || input->base)) return true;
    return false;
  }

  /// The same, with a lambda without captures as a plain function pointer. Ops of the same signature then share their
  /// code.
  template <class Out>
  decltype(auto) shared() {
    using X = std::tuple_element_t<0, std::tuple<In...>>;
    using Pointer = X (*)(const Out&, const S&...);
    using OfShape = X (*)(ShapeRef, const Out&, const S&...);
    if constexpr (sizeof...(In) != 1 || !std::is_empty_v<F>) return (*this);
    else if constexpr (std::is_convertible_v<F, OfShape>)
      return Wrt<OfShape, InputList<In...>, SavedList<S...>>{inputs, saved, f};
    else if constexpr (std::is_convertible_v<F, Pointer>)
      return Wrt<Pointer, InputList<In...>, SavedList<S...>>{inputs, saved, f};
    else return (*this);
  }

  template <class Out>
  EdgePlan plan() {
    using Thunk = EdgeThunk<Out, std::tuple<In...>, F, std::index_sequence_for<S...>, S...>;
    constexpr auto bytes = std::uint16_t(std::is_empty_v<F> ? 1 : sizeof(F));
    return {inputs.impl,         &Thunk::run, &f, saved.impl, std::uint8_t(sizeof...(In)), std::uint8_t(sizeof...(S)),
            is_plain_closure<F>, bytes};
  }
};

template <class D, class T, class... W>
[[gnu::noinline]] void record_now(const CallSite& op, const Tensor<D, T>& output, W&&... edges) {
  const EdgePlan plans[] = {edges.template plan<Tensor<D, T>>()...};
  record_edges(op, &GradOpsFor<D, T>::table, output.impl(), plans, sizeof...(W));
}

}  // namespace detail

/// The tensors that a gradient function needs; they may be undefined. Modifying one in place before the backward pass
/// makes that pass an Error.
template <class... S>
detail::SavedList<S...> saved(const S&... tensors) {
  static_assert(sizeof...(S) <= detail::max_saved);
  return {{tensors.impl()..., nullptr}};
}

/// Several inputs whose gradients are computed together.
template <class... X>
detail::InputList<X...> inputs(const X&... tensors) {
  return {{tensors.impl()...}};
}

// Each f may take a ShapeRef before the gradient: the sizes of the input, or of the first input that needs a gradient.

/// f(gradient) is the gradient of input x. If it is undefined, there is none.
template <class D, class T, class F>
auto wrt(const Tensor<D, T>& x, F f) {
  return detail::Wrt<F, detail::InputList<Tensor<D, T>>, detail::SavedList<>>{{{x.impl()}}, {}, std::move(f)};
}
/// f(gradient, saved...) is the gradient of input x. If x was broadcast, the result is summed to x's shape.
template <class D, class T, class F, class... S>
auto wrt(const Tensor<D, T>& x, const detail::SavedList<S...>& list, F f) {
  return detail::Wrt<F, detail::InputList<Tensor<D, T>>, detail::SavedList<S...>>{{{x.impl()}}, list, std::move(f)};
}
/// f(gradient, saved..., needs) is a tuple of the gradients of several inputs. Those that are not needed are undefined.
template <class F, class... X, class... S>
auto wrt(const detail::InputList<X...>& xs, const detail::SavedList<S...>& list, F f) {
  return detail::Wrt<F, detail::InputList<X...>, detail::SavedList<S...>>{xs, list, std::move(f)};
}

/// Records the gradients of output's op. Does nothing if no input needs one.
template <class D, class T, class... W>
void record(const CallSite& op, const Tensor<D, T>& output, W... edges) {
  if constexpr (detail::is_floating_v<T>) {
    if (detail::tape.grad_mode && (... || edges.needed()))
      detail::record_now(op, output, edges.template shared<Tensor<D, T>>()...);
  }
}

namespace detail {
/// record for a list of inputs of one type, at most detail::max_edges of them.
template <class D, class T, class W>
void record_each(const CallSite& op, const Tensor<D, T>& output, std::vector<W> edges) {
  if constexpr (is_floating_v<T>) {
    if (!detail::tape.grad_mode) return;
    std::vector<EdgePlan> plans;
    for (W& edge : edges) plans.push_back(edge.template plan<Tensor<D, T>>());
    record_edges(op, &GradOpsFor<D, T>::table, output.impl(), plans.data(), int(plans.size()));
  }
}

/// True if an op on these tensors would be recorded.
template <class... X>
bool records(const X&... tensors) {
  return detail::tape.grad_mode && (... || (detail::grad_node(tensors.impl()) != nullptr));
}
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "record.ipp"
#endif
