// Functions that run when a module is called, and when its gradient passes. Without hooks, a call costs one look at a
// pointer. Only programs that register hooks compile the rest of this file.
#pragma once
#include <utility>

#include "../autograd/backward.hpp"
#include "../tensor/any_tensor.hpp"
#include "members.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

enum class HookKind { forward_pre, forward, full_backward };

/// A registered function, type-erased: run(f, module, inputs, output) may replace the inputs or the output. Its module,
/// its handle, and the graphs that will call it hold references to it.
struct HookEntry {
  tern::detail::RefCount refs;
  HookKind kind;
  bool removed = false;
  HookEntry* next = nullptr;
  void (*run)(void* f, ModuleBase* module, std::vector<AnyTensor>& inputs, AnyTensor& output);
  void (*destroy)(void* f);
  void* f;
};

inline void release_hook(HookEntry* entry) {
  if (!entry || !entry->refs.decrease()) return;
  entry->destroy(entry->f);
  delete entry;
}

/// An input of a hooked call.
struct HookedInput {
  tern::detail::TensorImpl* impl;
  AnyTensor (*typed)(tern::detail::TensorImpl* impl);  // returns a shared handle
};
template <class D>
AnyTensor shared_handle(tern::detail::TensorImpl* impl) {
  tern::detail::retain(impl);
  return AnyTensor(Tensor<D>(impl));  // only the device of an AnyTensor's type matters
}

/// The call of a module's forward() with other tensors in the place of those given.
struct HookedForward {
  const void* f;
  tern::detail::TensorImpl* (*call)(const void* f, tern::detail::TensorImpl* const* inputs);
};

/// The hooks of a module.
struct Hooks {
  HookEntry* first = nullptr;
  tern::detail::TensorImpl* (*call)(Hooks& hooks, ModuleBase* module, const HookedInput* inputs, int count,
                                    const HookedForward& forward);
  void (*destroy)(Hooks* hooks);
};

/// An argument of a hooked call: the tensor that the hooks have left in its place, or what was given.
template <class X, bool = is_tensor<std::remove_cvref_t<X>>>
struct HookedArgument {
  X&& given;
  HookedArgument(X&& x, tern::detail::TensorImpl* const*) : given(static_cast<X&&>(x)) {}
  X&& get() const { return static_cast<X&&>(given); }
};
template <class X>
struct HookedArgument<X, true> {
  using Value = std::remove_cvref_t<X>;
  tern::detail::Borrowed<Tensor<typename Value::device_type, typename Value::value_type>> left;
  HookedArgument(X&&, tern::detail::TensorImpl* const* impl) : left(*impl) {}
  const auto& get() const { return left.tensor; }
};

/// The number of tensors among the first n arguments.
template <class... X>
constexpr int tensors_before(std::size_t n) {
  const bool tensors[] = {is_tensor<std::remove_cvref_t<X>>..., false};
  int count = 0;
  for (std::size_t i = 0; i < n; ++i) count += tensors[i];
  return count;
}

/// Adds an argument that is a tensor to the inputs that hooks see.
template <class X>
void append_input(HookedInput*& end, const X& x) {
  if constexpr (is_tensor<X>) *end++ = {x.impl(), &shared_handle<typename X::device_type>};
}

/// Calls a module's forward with its hooks, which see the tensors among the arguments.
template <class M, class... X>
[[gnu::noinline, gnu::cold]] auto call_hooked(Hooks& hooks, M& module, X&&... x) {
  using Y = decltype(module.forward(static_cast<X&&>(x)...));
  if constexpr (is_tensor<Y>) {
    HookedInput inputs[sizeof...(X) + 1]{}, *end = inputs;
    (append_input(end, x), ...);
    const auto forward = [&](tern::detail::TensorImpl* const* in) {
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return module.forward(HookedArgument<X>(static_cast<X&&>(x), in + tensors_before<X...>(i)).get()...).release();
      }(std::index_sequence_for<X...>{});
    };
    auto* const object = const_cast<std::remove_const_t<M>*>(&module);  // hooks were registered where it is not const
    return Y(hooks.call(hooks, object, inputs, int(end - inputs),
                        {&forward, [](const void* f, tern::detail::TensorImpl* const* in) -> tern::detail::TensorImpl* {
                           return (*static_cast<decltype(&forward)>(f))(in);
                         }}));
  } else {
    Error::fail(M::type_name(), {"hooks need a module that returns one tensor"});
    return module.forward(static_cast<X&&>(x)...);
  }
}

/// A call whose gradient will pass backward hooks. It lives until then.
struct BackwardCall {
  tern::detail::RefCount refs;
  std::vector<HookEntry*> entries;
  ModuleBase* module;
  AnyTensor (*output_handle)(tern::detail::TensorImpl* impl);
  AnyTensor (*input_handle)(tern::detail::TensorImpl* impl) = nullptr;  // for the input that needs a gradient
  AnyTensor output{};                                                   // the output's gradient
};

template <class = void>
void release_call(void* closure) {
  auto* const call = static_cast<BackwardCall*>(closure);
  if (!call->refs.decrease()) return;
  for (HookEntry* const e : call->entries) release_hook(e);
  delete call;
}

/// Runs all hooks of a kind.
template <class = void>
void run_hooks(HookEntry* first, HookKind kind, ModuleBase* module, std::vector<AnyTensor>& inputs, AnyTensor& output) {
  for (HookEntry* e = first; e; e = e->next)
    if (e->kind == kind && !e->removed) e->run(e->f, module, inputs, output);
}

/// x with a new node on the tape. `call` sees the gradient that passes the node.
template <class = void>
tern::detail::TensorImpl* watched(tern::detail::TensorImpl* x, BackwardCall* call,
                                  tern::detail::TensorImpl* (*on_gradient)(void* call,
                                                                           tern::detail::TensorImpl* gradient)) {
  tern::detail::TensorImpl* const y =
      tern::detail::recorded({"hook", CallSite::unknown}, tern::detail::new_detached(x), x, tern::detail::Unchanged{});
  call->refs.increase();
  tern::detail::append_hook(tern::detail::extra_of(y->node).before,
                            new tern::detail::Hook{on_gradient, &release_call<>, call, nullptr});
  return y;
}

template <class = void>
tern::detail::TensorImpl* see_input_gradient(void* closure, tern::detail::TensorImpl* gradient) {
  auto& call = *static_cast<BackwardCall*>(closure);
  std::vector<AnyTensor> inputs{gradient ? call.input_handle(gradient) : AnyTensor()};
  for (HookEntry* const e : call.entries)
    if (!e->removed) e->run(e->f, call.module, inputs, call.output);
  call.output = {};
  if (!gradient || inputs[0].impl() == gradient) return nullptr;
  if (!inputs[0].defined() || inputs[0].dtype() != gradient->dtype || !(inputs[0].shape() == gradient->shape()))
    Error::fail("register_full_backward_hook",
                {"the replacement must have the gradient's type and shape, ", gradient->shape()});
  tern::detail::retain(inputs[0].impl());
  return inputs[0].impl();
}
template <class = void>
tern::detail::TensorImpl* see_output_gradient(void* closure, tern::detail::TensorImpl* gradient) {
  auto& call = *static_cast<BackwardCall*>(closure);
  call.output = call.output_handle(gradient);
  if (!call.input_handle) see_input_gradient(closure, nullptr);
  return nullptr;
}

/// A call, with hooks, of a module of type M.
template <class M>
tern::detail::TensorImpl* run_hooked(Hooks& hooks, ModuleBase* module, const HookedInput* given, int count,
                                     const HookedForward& forward) {
  std::vector<AnyTensor> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(given[i].typed(given[i].impl));
  AnyTensor none;
  run_hooks(hooks.first, HookKind::forward_pre, module, inputs, none);
  if (int(inputs.size()) != count)
    Error::fail(M::type_name(), {"a hook gave ", Index(inputs.size()), " inputs for ", count});

  BackwardCall* call = nullptr;
  struct Release {
    BackwardCall*& call;
    ~Release() {
      if (call) release_call(call);
    }
  } release{call};
  for (HookEntry* e = hooks.first; e && GradMode::is_enabled(); e = e->next) {
    if (e->kind != HookKind::full_backward || e->removed) continue;
    if (!call) call = new BackwardCall{{}, {}, module, &shared_handle<typename M::device_type>};
    e->refs.increase();
    call->entries.push_back(e);
  }
  if (call) {
    for (int i = 0; i < count; ++i) {
      if (!inputs[std::size_t(i)].defined() || !tern::detail::recording(inputs[std::size_t(i)].impl())) continue;
      if (call->input_handle)
        Error::fail("register_full_backward_hook", {"the module has several inputs that need a gradient"});
      call->input_handle = given[i].typed;
      const tern::detail::Owned y(watched(inputs[std::size_t(i)].impl(), call, &see_input_gradient<>));
      inputs[std::size_t(i)] = given[i].typed(y.impl);
    }
  }
  std::vector<tern::detail::TensorImpl*> plain;
  for (int i = 0; i < count; ++i) {
    if (inputs[std::size_t(i)].defined() != (given[i].impl != nullptr) ||
        (given[i].impl && inputs[std::size_t(i)].dtype() != given[i].impl->dtype))
      Error::fail(M::type_name(), {"a hook replaced input ", i, " by a tensor of another type"});
    plain.push_back(inputs[std::size_t(i)].impl());
  }

  tern::detail::Owned result(forward.call(forward.f, plain.data()));
  AnyTensor output = shared_handle<typename M::device_type>(result.impl);
  run_hooks(hooks.first, HookKind::forward, module, inputs, output);
  if (output.dtype() != result.impl->dtype)
    Error::fail(M::type_name(), {"a hook replaced the output by a tensor of another type"});
  if (call && tern::detail::recording(output.impl())) return watched(output.impl(), call, &see_output_gradient<>);
  tern::detail::retain(output.impl());
  return output.impl();
}

/// f(module, inputs, output) as a hook of a kind; in the backward pass the output's gradient comes as a list of one, or
/// to an f that takes a tensor as such. If it returns a value, that replaces the inputs (or the only input), or the
/// output.
template <HookKind kind, class M, class F>
void run_hook(void* closure, ModuleBase* m, std::vector<AnyTensor>& inputs, AnyTensor& output) {
  using Output = Tensor<typename M::device_type, typename M::value_type>;
  F& f = *static_cast<F*>(closure);
  M& module = *static_cast<M*>(m);
  const auto call = [&] {
    const std::vector<AnyTensor>& in = inputs;
    if constexpr (kind == HookKind::forward_pre) return f(module, in);
    else {
      const Output out = output.template as<typename M::device_type, typename M::value_type>();
      if constexpr (kind == HookKind::forward) return f(module, in, out);  // f is not tried with a list
      else if constexpr (std::invocable<F&, M&, decltype(in), const std::vector<Output>&>)
        return f(module, in, std::vector<Output>{out});
      else return f(module, in, out);
    }
  };
  using Result = decltype(call());
  if constexpr (std::is_void_v<Result>) {
    call();
  } else if constexpr (std::is_same_v<Result, std::vector<AnyTensor>>) {
    inputs = call();
  } else {
    const Output y = call();
    if (!y.defined()) return;
    if constexpr (kind == HookKind::forward) output = y;
    else inputs.at(0) = y;
  }
}

}  // namespace detail

/// Removes a hook.
class HookHandle {
 public:
  /// Takes ownership of a reference.
  explicit HookHandle(detail::HookEntry* entry) : entry_(entry) {}
  HookHandle(HookHandle&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  HookHandle& operator=(HookHandle&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~HookHandle() { detail::release_hook(entry_); }

  /// Stops the hook from the next call on.
  void remove() { entry_->removed = true; }

 private:
  detail::HookEntry* entry_;
};

namespace detail {

/// Appends a hook to a module's list. The first hook creates the list.
template <HookKind kind, class M, class F>
HookHandle add_hook(Hooks*& hooks, const M*, F f) {
  if (!hooks) {
    const auto destroy = [](Hooks* list) {
      for (HookEntry* e = list->first; e;) release_hook(std::exchange(e, e->next));
      delete list;
    };
    hooks = new Hooks{nullptr, &run_hooked<M>, destroy};
  }
  const auto destroy_closure = [](void* closure) { delete static_cast<F*>(closure); };
  auto* const entry =
      new HookEntry{{}, kind, false, nullptr, &run_hook<kind, M, F>, destroy_closure, new F(std::move(f))};
  HookEntry** end = &hooks->first;
  while (*end) end = &(*end)->next;
  *end = entry;
  entry->refs.increase();
  return HookHandle(entry);
}

}  // namespace detail
}}}  // namespace tern::nn
