// Attention by a library of the device's, in 16 bits, and its gradients as tensor operations too.
#pragma once
#include "../../backend/random.hpp"
#include "../cat.hpp"
#include "../indexing.hpp"
#include "../random.hpp"
#include "../shape.hpp"
#include "../take.hpp"
#include "attention_weights.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// What attention by a library saves. Tensors are [b, h, n, d]. A bias is added to the scores; it may be undefined, and
/// so may `random`, four numbers that dropout follows from, and log_sums where no gradient is recorded.
template <class D, class T>
struct LibraryAttentionState {
  using X = Tensor<D, T>;
  using Promoted = Tensor<D, float>;
  const X &query, &key, &value, &bias;
  const Tensor<D, Index>& random;
  double scale, dropout_p;
  bool is_causal;

  /// A dense tensor in x's order of heads and positions, whose last dimension has another size.
  static X like(const X& x, Index size) {
    const Index batch = x.size(0), heads = x.size(1), length = x.size(2);
    if (!backend::heads_alternate(*x.impl())) return empty<D, T>({batch, heads, length, size}, x.device());
    return transpose(empty<D, T>({batch, length, heads, size}, x.device()), 1, 2).detach();
  }

  /// x where a library can read it: the last dimension is dense, and 16 bytes divide the address of each row.
  static X readable(const X& x) {
    const Array& a = *x.impl();
    bool fits = a.strides[3] == 1 && reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0;
    for (int i = 0; i < 3; ++i) fits = fits && (a.dims[i] == 1 || (a.strides[i] > 0 && a.strides[i] % 8 == 0));
    return fits ? x : dense_copy(x);
  }

  /// f(op) for the op with this output.
  template <class F>
  void with_op(const X& y, const Promoted& log_sums, bool bias_gradient, bool& refused, const F& f) const {
    const X q = readable(query), k = readable(key), v = readable(value);
    f(backend::LibraryAttention{*y.impl(), log_sums.impl(), *q.impl(), *k.impl(), *v.impl(), bias.impl(), bias_gradient,
                                scale, is_causal, dropout_p, random.impl(), refused});
  }

  /// The output; log_sums, if they are defined, are written. Undefined if the library does not compute it.
  X output(const Promoted& log_sums, bool bias_gradient) const {
    const X y = like(query, value.size(3));
    bool refused = false;
    with_op(y, log_sums, bias_gradient, refused, [](const auto& op) { backend::run<D, T>(op); });
    return refused ? X() : y;
  }

  /// The gradients of query, key, value and bias. False if the library does not compute them.
  bool gradient(const X& g, const X& y, const Promoted& log_sums, bool bias_gradient,
                std::tuple<X, X, X, X>& to) const {
    to = {like(query, query.size(3)), like(key, key.size(3)), like(value, value.size(3)),
          bias_gradient ? empty<D, T>(bias.shape(), bias.device()) : X()};
    const X &dq = std::get<0>(to), &dk = std::get<1>(to), &dv = std::get<2>(to), &dbias = std::get<3>(to);
    X dy = g.detach();
    if (!std::equal(dy.impl()->strides, dy.impl()->strides + 4, y.impl()->strides)) {
      dy = like(y, y.size(3));
      backend::run<D>(backend::Copy{*dy.impl(), *g.impl()});
    }
    bool refused = false;
    with_op(y, log_sums, bias_gradient, refused, [&](const backend::LibraryAttention& op) {
      backend::run<D, T>(
          backend::LibraryAttentionGradient{*dq.impl(), *dk.impl(), *dv.impl(), dbias.impl(), *dy.impl(), op});
    });
    return !refused;
  }

  /// 0 for a weight that is dropped, else 1 / (1 - p): the library's outputs for equal weights, and values that are
  /// columns of the unit matrix.
  Promoted dropout_mask() const {
    const NoGradGuard off;
    const Index n = key.size(2), width = 64;
    const X zero_query = zeros<D, T>(query.shape(), query.device()), zero_key = zeros<D, T>(key.shape(), key.device());
    std::vector<X> parts;
    for (Index column = 0; column < n; column += width) {
      const X unit = zeros<D, T>({n, width}, query.device());
      fill_(diagonal(unit, -column), 1);
      const X values = contiguous(broadcast_to(unit, {key.size(0), key.size(1), n, width}));
      parts.push_back(
          LibraryAttentionState{zero_query, zero_key, values, X(), random, 1, dropout_p, false}.output({}, false));
    }
    const X all = parts.size() == 1 ? parts[0] : cat(parts, -1);
    return mul(to_type(gt(all.narrow(-1, 0, n), 0), f32), 1 / (1 - dropout_p));
  }

  /// The same gradients as differentiable tensor operations.
  std::tuple<X, X, X, X> differentiable_gradient(const X& g, NeedsInputGrad needs) const {
    const Index heads = query.size(1), shared = key.size(1);
    const auto promoted = [](const X& x) { return x.defined() ? to_type(x, f32) : Promoted(); };
    const auto for_each_head = [&](const X& x) {
      return heads == shared ? promoted(x) : repeat_interleave(promoted(x), heads / shared, 1);
    };
    const auto gathered = [&](const Promoted& x) {
      return heads == shared ? x : sum(unflatten(x, 1, {shared, heads / shared}), 2);
    };
    const auto narrow = [](const Promoted& x) { return to_type(x, Type<T>{}); };
    const Promoted q = promoted(query), k = for_each_head(key), v = for_each_head(value), dy = promoted(g);
    const Promoted weights = attention_weights(q, k, promoted(bias), scale, is_causal, {});
    Promoted used = weights, ds = matmul(dy, v.mT());
    if (random.defined()) {
      const Promoted mask = dropout_mask();
      used = used * mask;
      ds = ds * mask;
    }
    ds = weights * (ds - sum(weights * ds, -1, true));
    return {
        needs[0] ? narrow(matmul(ds, k) * scale) : X(), needs[1] ? narrow(gathered(matmul(ds.mT(), q)) * scale) : X(),
        needs[2] ? narrow(gathered(matmul(used.mT(), dy))) : X(), needs[3] ? narrow(sum_to(ds, bias.shape())) : X()};
  }
};

/// softmax(Q Kᵀ scale + bias) V of [b, h, n, d] by the device's library. Undefined if it does not compute that.
template <class D, class T>
Tensor<D, T> library_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                               const Tensor<D, T>& bias, double scale, double dropout_p, bool is_causal,
                               CallSite here) {
  const bool bias_gradient = bias.defined() && records(bias), recorded = bias_gradient || records(query, key, value);
  Tensor<D, Index> random;
  Tensor<D, float> log_sums;
  if (dropout_p > 0) {
    random = empty<D, Index>({4}, query.device());
    backend::run<D, Index>(backend::Integers{*random.impl(), next_random(), 0, Index(1) << 32});
  }
  if (recorded) log_sums = empty<D, float>({query.size(0), query.size(1), query.size(2)}, query.device());
  const Tensor<D, T> y =
      LibraryAttentionState<D, T>{query, key, value, bias, random, scale, dropout_p, is_causal}.output(log_sums,
                                                                                                       bias_gradient);
  if (!y.defined()) return y;
  count_attention(*query.impl(), *key.impl(), *value.impl(), is_causal, 1, 1);
  record({"scaled_dot_product_attention", here}, y,
         wrt(inputs(query, key, value, bias), saved(query, key, value, bias, random, y, log_sums),
             [=](const auto& g, const auto& q, const auto& k, const auto& v, const auto& b, const auto& numbers,
                 const auto& output, const auto& sums, NeedsInputGrad needs) {
               using X = Tensor<D, T>;
               const LibraryAttentionState<D, T> state{q, k, v, b, numbers, scale, dropout_p, is_causal};
               std::tuple<X, X, X, X> gradients;
               if (GradMode::is_enabled() || !state.gradient(g, output, sums, needs[3], gradients))
                 return state.differentiable_gradient(g, needs);
               // The scores again, the gradient of the weights, and each gradient.
               count_attention(*q.impl(), *k.impl(), *v.impl(), is_causal, 3, 2);
               const auto& [dq, dk, dv, dbias] = gradients;
               return std::tuple<X, X, X, X>{needs[0] ? dq : X(), needs[1] ? dk : X(), needs[2] ? dv : X(), dbias};
             }));
  return y;
}

}}}  // namespace tern::detail
