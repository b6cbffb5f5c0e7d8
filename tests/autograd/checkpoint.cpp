#include "tern/autograd/checkpoint.hpp"

#include "support/tensors.hpp"
#include "tern/nn/nn.hpp"
#include "tern/ops/ops.hpp"

namespace autograd_checkpoint {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Block : nn::Module<D, T> {
  nn::Linear<D, T> in{6, 8}, out{8, 6};
  nn::Dropout<D, T> dropout{0.4};
  nn::LayerNorm<D, T> norm{{6}};
  TERN_FIELDS(Block, in, out, dropout, norm)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return x + dropout(out(tanh(in(norm(x))))); }
};

std::vector<double> together(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("a checkpoint's gradients are bit for bit those without one, with dropout in it", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto run = [](bool saves, bool nested) {
    manual_seed(4);
    Block<D> first, second;
    const auto x = spread_tensor<D>({5, 6}).requires_grad_();
    const auto both = [&](const Tensor<D, double>& v) {
      return nested && saves ? checkpoint([&](const auto& u) { return second(u); }, first(v)) : second(first(v));
    };
    const auto y = saves ? checkpoint(both, x) : both(x);
    const auto after = randn<D, double>({3});  // the sequence of random numbers goes on as without
    y.square().sum().backward();
    std::vector<double> values = together(values_of(y), values_of(x.grad()));
    for (const auto* block : {&first, &second})
      for (const auto& p : block->parameters())
        values = together(values, values_of(p.tensor.template as<D, double>().grad()));
    return together(together(values, values_of(after)), values_of(randn<D, double>({3})));
  };
  const auto plain = run(false, false);
  CHECK(run(true, false) == plain);
  CHECK(run(true, true) == plain);
}

template <class D>
Tensor<D, double> exponential(const Tensor<D, double>& x) {
  return x.exp();
}

TEMPLATE_TEST_CASE("a checkpoint takes a plain function", "", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3}).requires_grad_();
  checkpoint(exponential<TestType>, x).sum().backward();
  check_close(values_of(x.grad()), values_of(x.exp()));
}

TEMPLATE_TEST_CASE("a checkpoint can be differentiated by grad(), twice, and kept for a second pass", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = spread_tensor<D>({4, 4}).requires_grad_(), x = spread_tensor<D>({3, 4}, -1, 1).requires_grad_();
  const auto f = [&](const Tensor<D, double>& v) { return tanh(matmul(tanh(matmul(v, w)), w)).square(); };
  const auto nested = [&](const Tensor<D, double>& v) { return exp(checkpoint(f, sin(v))); };
  const auto values = [&](const Tensor<D, double>& y) {
    const auto first = grad<D, double>({y.sum()}, {x, w}, {}, {.create_graph = true});
    const auto second = grad<D, double>({(first[0] * first[0]).sum() + first[1].square().sum()}, {x, w});
    return together(together(values_of(first[0]), values_of(first[1])),
                    together(values_of(second[0]), values_of(second[1])));
  };
  CHECK(values(checkpoint(f, x)) == values(f(x)));
  CHECK(values(checkpoint(nested, x)) == values(exp(f(sin(x)))));
  CHECK_FALSE(w.grad().defined());

  const auto y = checkpoint(f, x).sum();
  y.backward({}, true);
  const auto once = values_of(w.grad());
  w.set_grad({});
  y.backward();
  CHECK(values_of(w.grad()) == once);
  gradgradcheck([&](const auto& v) { return checkpoint([](const auto& u) { return sigmoid(u * u); }, v); },
                std::tuple{x});
}

TEMPLATE_TEST_CASE("a checkpoint may have several inputs and outputs, and inputs without a gradient", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({4}).requires_grad_(), b = spread_tensor<D>({4}, 1, 2);
  const auto f = [](const Tensor<D, double>& x, const Tensor<D, double>& y, double n) {
    return std::pair{exp(x) * y, std::vector{(x * x * n).sum()}};
  };
  const auto [p, q] = checkpoint(f, a, b, 3.0);
  (p.sum() * q[0]).backward();
  const auto [r, s] = f(a, b, 3.0);
  const auto expected = grad(r.sum() * s[0], a);
  CHECK(values_of(a.grad()) == values_of(expected));
  const auto only = std::get<0>(checkpoint(f, a, b, 3.0));  // the other output's ops are gone before the backward pass
  check_close(values_of(grad(only.sum(), a)), values_of(grad((exp(a) * b).sum(), a)));
  int calls = 0;
  const auto counted = [&](const Tensor<D, double>& x) {
    ++calls;
    return x.tanh();
  };
  checkpoint(counted, b);      // nothing to differentiate
  { checkpoint(counted, a); }  // dropped
  const NoGradGuard off;
  CHECK_FALSE(checkpoint(counted, a).requires_grad());
  CHECK(calls == 3);
}

TEMPLATE_TEST_CASE("checkpointed layers hold less memory at their worst", "", TERN_TEST_DEVICES) {
  using D = TestType;
  constexpr Index n = 1 << 15, layers = 16, bytes = n * Index(sizeof(double));
  const auto peak = [&](bool saves) {
    const auto x = spread_tensor<D>({n}, -1, 1).requires_grad_();
    const Index before = memory_in_use();
    Index most = 0;
    const auto look = [&] { most = std::max(most, memory_in_use() - before); };
    const auto segment = [&](const Tensor<D, double>& v) {
      auto y = v;
      for (int i = 0; i < 4; ++i) {
        y = y.tanh();
        if (y.requires_grad()) y.register_hook([&](const auto&) { look(); });
        look();
      }
      return y;
    };
    auto y = x * 1.5;
    for (Index i = 0; i < layers / 4; ++i) y = saves ? checkpoint(segment, y) : segment(y);
    y.sum().backward();
    look();
    return std::pair{most, values_of(x.grad())};
  };
  const auto [most, gradient] = peak(true);
  const auto [most_plain, gradient_plain] = peak(false);
  CHECK(gradient == gradient_plain);
  CHECK(most_plain >= layers * bytes);
  CHECK(most <=
        11 * bytes);  // an input for each of four segments, one segment's layers, and what the pass itself needs
}

TEMPLATE_TEST_CASE("a checkpoint refuses a function that does something else the second time", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3}).requires_grad_();
  int calls = 0;
  const auto odd = [&](const Tensor<D, double>& v) { return calls++ ? v.tanh() : v.tanh().exp(); };
  const auto y = checkpoint(odd, x).sum();
  CHECK_THAT(
      error_of([&] { y.backward(); }),
      ContainsSubstring("checkpoint: the function did something else when it was called again: 1 ops, at first 2"));
  const auto z = spread_tensor<D>({3});
  const auto w = checkpoint([&](const auto& u, const auto& v) { return (u * v).tanh(); }, x, z).sum();
  z.fill_(1);
  CHECK_THAT(error_of([&] { w.backward(); }), ContainsSubstring("checkpoint: input 1 was modified in place"));
}

}  // namespace autograd_checkpoint
