// The collectives: every rank of a communicator calls them, and each gets a result of all ranks' tensors. They have
// PyTorch's names, and the gradients of torch.distributed.nn. A Tensor<Cpu> goes by MPI or shared memory, a
// Tensor<Cuda> by NCCL: as work of the device's current stream, for which the host does not wait.
#pragma once
#include "../ops/ops.hpp"
#include "carrier.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

namespace detail {

/// A dense form of x for a collective named op, outside of the tape.
template <CarriedDevice D, Element T>
Tensor<D, T> dense(const CallSite& op, const Tensor<D, T>& x) {
  x.checked(op);
  const NoGradGuard off;
  return x.contiguous();
}

/// Error unless the elements can be joined so, on the way forward and, where x needs a gradient, back.
[[gnu::noinline, gnu::cold]] inline void check_reduction(const CallSite& op, ReduceOp reduction, DType dtype,
                                                         bool needs_gradient) {
  if (reduction == avg && !tern::detail::is_floating(dtype))
    Error::fail(op, {"the average of ", tern::detail::name_of(dtype), " is no ", tern::detail::name_of(dtype),
                     "; sum and divide"});
  if (needs_gradient && reduction != sum && reduction != avg)
    Error::fail(op, {"min, max and product have no gradient; detach() the input"});
}
/// Error unless dimension 0 has a multiple of `ranks` entries.
[[gnu::noinline, gnu::cold]] inline void check_divides(const CallSite& op, tern::detail::ShapeRef shape, int ranks) {
  if (shape.n < 1 || shape.d[0] % ranks)
    Error::fail(op, {"dimension 0 of ", shape, " has no equal parts for ", ranks, " ranks"});
}
/// Error unless it is one of the ranks.
[[gnu::noinline, gnu::cold]] inline void check_rank(const CallSite& op, const char* what, int rank, int ranks) {
  if (rank < 0 || rank >= ranks) Error::fail(op, {what, " must be one of ", ranks, " ranks, not ", rank});
}

/// The shape with `factor` / `divisor` times as many entries in dimension 0; of a 0-d tensor, `factor` entries.
[[gnu::noinline]] inline tern::detail::Shape resized(tern::detail::ShapeRef shape, Index factor, Index divisor) {
  if (shape.n == 0) return {factor};
  tern::detail::Shape out(shape.d, shape.n);
  out.d[0] = tern::detail::checked_product({"Communicator", CallSite::unknown}, {shape.d[0], factor}) / divisor;
  return out;
}

template <CarriedDevice D, Element T>
bool needs_gradient(const Tensor<D, T>& x) {
  if constexpr (tern::detail::is_floating_v<T>) return tern::detail::tape.grad_mode && x.requires_grad();
  else return false;
}

}  // namespace detail

/// The elements of all ranks, joined: Σ over ranks of x by default. Of bool, sum is "or" and product is "and". The
/// gradient of a sum or an average is the same of the ranks' gradients; the other reductions have none. Error unless
/// all ranks give one shape and element type.
template <detail::CarriedDevice D, Element T>
Tensor<D, T> all_reduce(const Tensor<D, T>& x, const Communicator& communicator, ReduceOp reduction = ReduceOp::sum,
                        CallSite here = {}) {
  const CallSite op{"all_reduce", here};
  const CallScope scope(op);
  detail::check_reduction(op, reduction, dtype_of<T>, detail::needs_gradient(x));
  const Tensor<D, T> in = detail::dense(op, x);
  const Tensor<D, T> y = empty<D, T>(in.shape(), x.device());
  detail::CarrierOf<D>::get(communicator, op, *in.impl())->all_reduce(*in.impl(), *y.impl(), reduction);
  if constexpr (tern::detail::is_floating_v<T>)
    record(op, y, wrt(x, [communicator, reduction](const auto& g) { return all_reduce(g, communicator, reduction); }));
  return y;
}

/// The root's x, on every rank. The root's gradient is the sum of all ranks' gradients; the others' is 0.
template <detail::CarriedDevice D, Element T>
Tensor<D, T> broadcast(const Tensor<D, T>& x, const Communicator& communicator, int root = 0, CallSite here = {}) {
  const CallSite op{"broadcast", here};
  const CallScope scope(op);
  detail::check_rank(op, "root", root, communicator.size());
  const Tensor<D, T> y = detail::dense(op, x).clone();
  detail::CarrierOf<D>::get(communicator, op, *y.impl())->broadcast(*y.impl(), root);
  if constexpr (tern::detail::is_floating_v<T>)
    record(op, y, wrt(x, [communicator, root](const auto& g) {
             const auto sum = all_reduce(g, communicator);
             return communicator.rank() == root ? sum : zeros_like(sum);
           }));
  return y;
}

/// All ranks' tensors one behind the other along dimension 0, as torch.distributed.all_gather_into_tensor: [size n,
/// ...] of [n, ...]; [size] of numbers. The gradient is reduce_scatter of the ranks' gradients.
template <detail::CarriedDevice D, Element T>
Tensor<D, T> all_gather(const Tensor<D, T>& x, const Communicator& communicator, CallSite here = {});

/// This rank's part of the ranks' tensors joined: part k of dimension 0 goes to rank k, [n / size, ...] of [n, ...].
/// The gradient is all_gather of the ranks' gradients. Error unless n is a multiple of the size.
template <detail::CarriedDevice D, Element T>
Tensor<D, T> reduce_scatter(const Tensor<D, T>& x, const Communicator& communicator, ReduceOp reduction = ReduceOp::sum,
                            CallSite here = {}) {
  const CallSite op{"reduce_scatter", here};
  const CallScope scope(op);
  detail::check_reduction(op, reduction, dtype_of<T>, detail::needs_gradient(x));
  const Tensor<D, T> in = detail::dense(op, x);
  detail::check_divides(op, in.impl()->shape_ref(), communicator.size());
  const Tensor<D, T> y = empty<D, T>(detail::resized(in.impl()->shape_ref(), 1, communicator.size()), x.device());
  detail::CarrierOf<D>::get(communicator, op, *in.impl())->reduce_scatter(*in.impl(), *y.impl(), reduction);
  if constexpr (tern::detail::is_floating_v<T>)
    record(op, y, wrt(x, [communicator, reduction](const auto& g) {
             const auto all = all_gather(g, communicator);
             return reduction == ReduceOp::avg ? all / double(communicator.size()) : all;
           }));
  return y;
}

template <detail::CarriedDevice D, Element T>
Tensor<D, T> all_gather(const Tensor<D, T>& x, const Communicator& communicator, CallSite here) {
  const CallSite op{"all_gather", here};
  const CallScope scope(op);
  const Tensor<D, T> in = detail::dense(op, x);
  const Tensor<D, T> y = empty<D, T>(detail::resized(in.impl()->shape_ref(), communicator.size(), 1), x.device());
  detail::CarrierOf<D>::get(communicator, op, *in.impl())->all_gather(*in.impl(), *y.impl());
  if constexpr (tern::detail::is_floating_v<T>)
    record(op, y, wrt(x, [communicator](tern::detail::ShapeRef shape, const auto& g) {
             return reduce_scatter(g, communicator).reshape(tern::detail::Shape(shape.d, shape.n));
           }));
  return y;
}

/// Part k of dimension 0 goes to rank k, and comes back from rank k: as torch.distributed.all_to_all_single. The
/// gradient goes the same way. Error unless dimension 0 has a multiple of the size.
template <detail::CarriedDevice D, Element T>
Tensor<D, T> all_to_all(const Tensor<D, T>& x, const Communicator& communicator, CallSite here = {}) {
  const CallSite op{"all_to_all", here};
  const CallScope scope(op);
  const Tensor<D, T> in = detail::dense(op, x);
  detail::check_divides(op, in.impl()->shape_ref(), communicator.size());
  const Tensor<D, T> y = empty<D, T>(in.shape(), x.device());
  detail::CarrierOf<D>::get(communicator, op, *in.impl())->all_to_all(*in.impl(), *y.impl());
  if constexpr (tern::detail::is_floating_v<T>)
    record(op, y, wrt(x, [communicator](const auto& g) { return all_to_all(g, communicator); }));
  return y;
}

/// Sends x to another rank, which calls recv, and returns when that one has it. Error on both unless they mean one
/// shape and element type.
template <detail::CarriedDevice D, Element T>
void send(const Tensor<D, T>& x, const Communicator& communicator, int to, CallSite here = {}) {
  const CallSite op{"send", here};
  const CallScope scope(op);
  detail::check_rank(op, "the receiver", to, communicator.size());
  if (to == communicator.rank()) Error::fail(op, {"rank ", to, " cannot send to itself"});
  const Tensor<D, T> in = detail::dense(op, x);
  detail::CarrierOf<D>::get(communicator, op, *in.impl())->send(*in.impl(), to);
}

/// A tensor of this shape that another rank sends.
template <detail::CarriedDevice D, Element T = float>
Tensor<D, T> recv(const tern::detail::Shape& shape, const Communicator& communicator, int from, CallSite here = {}) {
  const CallSite op{"recv", here};
  const CallScope scope(op);
  detail::check_rank(op, "the sender", from, communicator.size());
  if (from == communicator.rank()) Error::fail(op, {"rank ", from, " cannot receive from itself"});
  const Tensor<D, T> x = empty<D, T>(shape);
  detail::CarrierOf<D>::get(communicator, op, *x.impl())->receive(*x.impl(), from);
  return x;
}

/// Waits until all ranks call it.
inline void barrier(const Communicator& communicator, CallSite here = {}) { communicator.barrier(here); }

}}}  // namespace tern::distributed
