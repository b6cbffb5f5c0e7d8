// Attention, against softmax and products written out.
#include "support/recorded.hpp"
#include "tern/ops/attention.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_attention {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("attention is a mean of values weighted by softmax", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto q = spread_tensor<D>({2, 3, 4}), k = spread_tensor<D>({2, 5, 4}, -2, 1),
             v = spread_tensor<D>({2, 5, 6}, 0, 3);
  const auto written_out = [&](const auto& added, double scale) {
    return matmul(softmax(add(mul(matmul(q, k.mT()), scale), added), -1), v);
  };
  const auto zero = zeros<D, double>({3, 5});
  check_close(values_of(scaled_dot_product_attention(q, k, v)), values_of(written_out(zero, 0.5)));
  check_close(values_of(scaled_dot_product_attention(q, k, v, {}, {.scale = 2})), values_of(written_out(zero, 2)));
  const auto mask = spread_tensor<D>({3, 5}, -1, 1);
  check_close(values_of(scaled_dot_product_attention(q, k, v, mask)), values_of(written_out(mask, 0.5)));
  const auto causal = triu(full<D, double>({3, 5}, -std::numeric_limits<double>::infinity()), 1);
  check_close(values_of(scaled_dot_product_attention(q, k, v, {}, {.is_causal = true})),
              values_of(written_out(causal, 0.5)));
}

TEMPLATE_TEST_CASE("a query that sees no key gives zeros and no NaN in gradients", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 4});
  x.requires_grad_();
  const auto mask = tensor_of<D, bool>({1, 1, 0, 0}, {2, 2});
  const auto y = scaled_dot_product_attention(x, x, x, mask);
  CHECK(values_of(y[1]) == std::vector<double>(4, 0));
  y.sum().backward();
  for (const double g : values_of(x.grad())) CHECK(g == g);
}

TEMPLATE_TEST_CASE("attention of many queries, whose scores are in no tensor, is that of few", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  // A mask of numbers has the scores in a tensor.
  const double inf = std::numeric_limits<double>::infinity();
  const auto later = [&](Index m, Index n) { return triu(full<D, double>({m, n}, -inf), 1); };
  const auto compare = [](Index batch, Index m, Index n, const auto& mask, bool causal) {
    const auto q = spread_tensor<D>({batch, 2, m, 6}), k = spread_tensor<D>({batch, 2, n, 6}, -2, 1),
               v = spread_tensor<D>({batch, 2, 3, n}, 0, 3).mT(), g = spread_tensor<D>({batch, 2, m, 3}, -1, 1);
    std::vector<std::vector<double>> results[2];
    for (const bool masked : {false, true}) {
      auto a = q.detach(), b = k.detach(), c = v.detach();
      for (auto* x : {&a, &b, &c}) x->requires_grad_();
      const auto y = masked ? scaled_dot_product_attention(a, b, c, mask)
                            : scaled_dot_product_attention(a, b, c, {}, {.is_causal = causal});
      y.backward(g);
      results[masked] = {values_of(y), values_of(a.grad()), values_of(b.grad()), values_of(c.grad())};
    }
    for (std::size_t i = 0; i < 4; ++i) check_close(results[0][i], results[1][i], 1e-10, 1e-10);
  };
  compare(2, 130, 130, later(130, 130), true);
  compare(1, 200, 40, later(200, 40), true);
  compare(1, 128, 300, later(128, 300), true);
  if constexpr (HostDevice<D>) compare(2, 1024, 512, zeros<D, double>({1024, 512}), false);
}

TEMPLATE_TEST_CASE("attention of many queries has second derivatives", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto attend = [](const auto& q, const auto& k, const auto& v) {
    return scaled_dot_product_attention(q, k, v, {}, {.is_causal = true}).narrow(0, 0, 4);
  };
  auto q = spread_tensor<D>({128, 1}), k = spread_tensor<D>({3, 1}, -2, 1), v = spread_tensor<D>({3, 2}, 0, 3);
  const std::tuple at{q.requires_grad_(), k.requires_grad_(), v.requires_grad_()};
  CHECK(gradcheck(attend, at));
  CHECK(gradgradcheck(attend, at));
}

TEMPLATE_TEST_CASE("attention of 16 bits is rounded once, and has second derivatives", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, double unit) {
    auto q = to_type(spread_tensor<D>({2, 17, 24}, -1, 1), type),
         k = to_type(spread_tensor<D>({2, 40, 24}, -2, 1), type), v = to_type(spread_tensor<D>({2, 40, 9}, 0, 1), type);
    const auto attend = [](const auto& a, const auto& b, const auto& c) {
      return scaled_dot_product_attention(a, b, c, {}, {.is_causal = true});
    };
    std::vector<std::vector<double>> results[2];
    const auto differentiate = [&](auto& to, const auto& of_q, const auto& of_k, const auto& of_v) {
      auto a = of_q.detach(), b = of_k.detach(), c = of_v.detach();
      for (auto* x : {&a, &b, &c}) x->requires_grad_();
      const auto y = attend(a, b, c);
      const auto slope = grad(y.square().sum(), a, {.create_graph = true});
      to = {values_of(y), values_of(slope)};
      slope.square().sum().backward();
      to.push_back(values_of(b.grad()));
    };
    differentiate(results[0], q, k, v);
    differentiate(results[1], to_type(q, f64), to_type(k, f64), to_type(v, f64));
    for (std::size_t i = 0; i < 3; ++i) {
      double largest = 0;
      for (const double x : results[1][i]) largest = std::max(largest, std::abs(x));
      INFO("array " << i);
      check_close(results[0][i], results[1][i], 0,
                  (i ? 8 : 2) * unit * largest);  // y, its gradient and theirs are rounded in turn
    }
  };
  check(bf16, 0x1p-8);
  check(f16, 0x1p-11);
}

TEMPLATE_TEST_CASE("attention to no keys, of no queries, and in no batch", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto attend = [](const detail::Shape& q, const detail::Shape& k, const detail::Shape& v) {
    return scaled_dot_product_attention(zeros<D, double>(q), zeros<D, double>(k), ones<D, double>(v), {},
                                        {.is_causal = true});
  };
  CHECK(values_of(attend({200, 4}, {0, 4}, {0, 1})) == std::vector<double>(200, 0));
  CHECK(attend({0, 4}, {5, 4}, {5, 2}).shape() == detail::Shape{0, 2});
  CHECK(attend({0, 200, 4}, {0, 200, 4}, {0, 200, 3}).shape() == detail::Shape{0, 200, 3});
}

TEMPLATE_TEST_CASE("groups of heads share keys", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto q = spread_tensor<D>({4, 3, 2}), k = spread_tensor<D>({2, 3, 2}, -1, 2);
  const auto shared = scaled_dot_product_attention(q, k, k, {}, {.enable_gqa = true});
  check_close(values_of(shared[3]), values_of(scaled_dot_product_attention(q[3], k[1], k[1])));
  CHECK(error_of([&] { scaled_dot_product_attention(q, q.narrow(0, 0, 3), k, {}, {.enable_gqa = true}); }) ==
        "scaled_dot_product_attention: heads of keys [3, 3, 2] and values [2, 3, 2] do not divide those of [4, 3, 2]");
}

TEMPLATE_TEST_CASE("a group of heads that shares keys is its heads with copies of the keys", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto q = spread_tensor<D>({2, 6, 3, 4}), k = spread_tensor<D>({2, 2, 5, 4}, -1, 2),
             v = spread_tensor<D>({2, 2, 5, 3}, 0, 3), g = spread_tensor<D>({2, 6, 3, 3}, -1, 1);
  const auto copied = [](const auto& x) { return repeat_interleave(x, 3, 1); };
  const auto sees = tensor_of<D, bool>({1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}, {3, 5});
  for (const bool causal : {false, true})
    for (const auto& mask : {Tensor<D, bool>(), sees}) {
      if (causal && mask.defined()) continue;
      std::vector<std::vector<double>> results[2];
      for (const bool shared : {false, true}) {
        auto a = q.detach(), b = k.detach(), c = v.detach();
        for (auto* x : {&a, &b, &c}) x->requires_grad_();
        const auto y = shared ? scaled_dot_product_attention(a, b, c, mask, {.is_causal = causal, .enable_gqa = true})
                              : scaled_dot_product_attention(a, copied(b), copied(c), mask, {.is_causal = causal});
        y.backward(g);
        results[shared] = {values_of(y), values_of(a.grad()), values_of(b.grad()), values_of(c.grad())};
      }
      for (std::size_t i = 0; i < 4; ++i) check_close(results[1][i], results[0][i]);
    }
}

TEMPLATE_TEST_CASE("a token's attention reads keys where they lie in a cache", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, double tolerance, Index queries, Index keys, Index size, Index width) {
    using T = typename decltype(type)::type;
    const auto q = to_type(spread_tensor<D>({2, 3, queries, size}, -2, 1), type),
               cache = to_type(spread_tensor<D>({2, 3, 2 * keys, size}), type),
               values = to_type(spread_tensor<D>({2, 3, width, keys + 3}, 0, 3), type).mT();
    const auto k = cache.narrow(2, keys / 2, keys), v = values.narrow(2, 1, keys);
    const NoGradGuard no_grad;
    INFO(detail::name_of(dtype_of<T>) << ", " << queries << " queries, " << keys << " keys of " << size
                                      << ", values of " << width);
    for (const auto& kept : {v, v.contiguous()}) {
      const auto y = scaled_dot_product_attention(q, k, kept, {}, {.scale = 0.3});
      const auto weights = softmax(mul(matmul(to_type(q, f64), to_type(k, f64).mT()), 0.3), -1);
      check_close(values_of(y), values_of(matmul(weights, to_type(v, f64))), tolerance, tolerance);
    }
  };
  for (const Index queries : {1, 2, 4, 5})
    for (const Index keys : {1, 6, 40}) {
      check(f64, 1e-12, queries, keys, 5, 7);
      check(f32, 1e-5, queries, keys, 64, 100);
      check(bf16, 0x1p-8, queries, keys, 33, 16);
      check(f16, 0x1p-10, queries, keys, 1, 1);
    }
}

TEMPLATE_TEST_CASE("a query whose mask of numbers is all -inf gives 0, and so do its gradients", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"attention, a row of -inf", "attention, only -inf"}) {
    const RecordedCase recorded(name, 1e-12, "singular");
    const auto q = recorded.input<D>(0), k = recorded.input<D>(1), v = recorded.input<D>(2), m = recorded.input<D>(3);
    recorded.check(scaled_dot_product_attention(q, k, v, m), q, k, v, m);
  }
  // In 16 bits, in a batch of heads that share the mask, and with a second derivative.
  const auto mask = tensor_of<D, half>({0, -INFINITY, -INFINITY, -INFINITY}, {2, 2});
  const auto x = to_type(spread_tensor<D>({2, 3, 2, 4}), detail::Type<half>{}).detach().requires_grad_();
  const auto y = scaled_dot_product_attention(x, x, x, mask);
  CHECK(values_of(y.select(-2, 1)) == std::vector<double>(24, 0));
  const auto slope = grad(y.sum(), x, {.create_graph = true});
  slope.square().sum().backward();
  for (const double g : values_of(x.grad())) CHECK(g == g);
}

namespace {

enum class Seen { all, causal, masked, biased };

struct HalfCase {
  Index heads, shared, queries, keys, size;
  Seen seen = Seen::all;
};

/// Largest difference, relative to the largest expected number.
double largest_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double most = 0, error = 0;
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(expected[i]));
    error = std::max(error, found[i] == found[i] ? std::abs(found[i] - expected[i]) : 1e300);
  }
  return most > 0 ? error / most : error;
}

template <class D>
Tensor<D, bool> some_keys(Index queries, Index keys) {
  std::vector<double> sees;
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) sees.push_back(i % 5 != 3 && (i + 2 * j) % 3 != 0);
  return tensor_of<D, bool>(sees, {queries, keys});
}

/// Outputs and gradients in T, of parts of a packed projection, against the formula in double.
template <class D, class T>
void check_half(const HalfCase& c, double tolerance) {
  const Index b = 2;
  INFO(detail::name_of(dtype_of<T>) << ": " << c.queries << " queries, " << c.keys << " keys of " << c.size
                                    << ", option " << int(c.seen) << ", " << c.heads << " heads share " << c.shared);
  const bool causal = c.seen == Seen::causal, masked = c.seen == Seen::masked, biased = c.seen == Seen::biased;
  const auto part = [&](Index heads, Index length, double from, double to) {
    const auto packed = to_type(spread_tensor<D>({b, length, 3, heads, c.size}, from, to), detail::Type<T>{});
    return packed.select(2, 1).transpose(1, 2).detach().requires_grad_();
  };
  auto q = part(c.heads, c.queries, -2, 2), k = part(c.shared, c.keys, -1, 2), v = part(c.shared, c.keys, -1.5, 1.5);
  auto bias =
      to_type(spread_tensor<D>({1, c.heads, c.queries, c.keys}, -1, 1), detail::Type<T>{}).detach().requires_grad_();
  const auto g = to_type(spread_tensor<D>({b, c.heads, c.queries, c.size}, -1, 1), detail::Type<T>{});
  const auto sees = some_keys<D>(c.queries, c.keys);
  const AttentionOptions options{.is_causal = causal, .enable_gqa = c.heads != c.shared};
  const auto y = masked   ? scaled_dot_product_attention(q, k, v, sees, options)
                 : biased ? scaled_dot_product_attention(q, k, v, bias, options)
                          : scaled_dot_product_attention(q, k, v, {}, options);
  y.backward(g);

  const auto wide = [](const auto& x) { return to_type(x.detach(), f64).detach().requires_grad_(); };
  auto wq = wide(q), wk = wide(k), wv = wide(v), wbias = wide(bias);
  const auto each = [&](const auto& x) { return repeat_interleave(x, c.heads / c.shared, 1); };
  auto scores = matmul(wq, each(wk).mT()) / std::sqrt(double(c.size));
  if (biased) scores = scores + wbias;
  Tensor<D, bool> hidden;
  if (causal) hidden = eq(tril(ones<D, bool>({c.queries, c.keys})), false);
  if (masked) hidden = eq(sees, false);
  if (hidden.defined()) scores = masked_fill(scores, hidden, -1e30);
  auto weights = softmax(scores, -1);
  if (hidden.defined()) weights = masked_fill(weights, hidden, 0);
  const auto expected = matmul(weights, each(wv));
  expected.backward(to_type(g, f64));

  CHECK(largest_error(values_of(y), values_of(expected)) < tolerance);
  CHECK(largest_error(values_of(q.grad()), values_of(wq.grad())) < 2 * tolerance);
  CHECK(largest_error(values_of(k.grad()), values_of(wk.grad())) < 2 * tolerance);
  CHECK(largest_error(values_of(v.grad()), values_of(wv.grad())) < 2 * tolerance);
  if (biased) CHECK(largest_error(values_of(bias.grad()), values_of(wbias.grad())) < 2 * tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("attention in 16 bits, with each pair of options, is the formula", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const HalfCase& c) {
    check_half<D, bfloat16>(c, 0x1p-6);
    check_half<D, half>(c, 0x1p-9);
  };
  check({2, 2, 7, 197, 40});
  check({2, 2, 197, 197, 64, Seen::causal});
  check({2, 2, 64, 128, 128, Seen::causal});
  check({2, 2, 33, 7, 64, Seen::masked});
  check({2, 2, 65, 333, 40, Seen::biased});
  check({4, 2, 40, 70, 64, Seen::causal});
  check({4, 2, 40, 70, 64, Seen::masked});
  check({4, 1, 40, 70, 64, Seen::biased});
  check({2, 2, 1, 64, 64});
  check({2, 2, 5, 1, 64});
  check({2, 2, 1, 1, 64});
  check({2, 2, 20, 30, 12, Seen::all});  // of a size that cuDNN does not take
}

TEMPLATE_TEST_CASE("dropout of attention in 16 bits drops the same weights in both passes", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto tensor = [](double from, double to) {
    return to_type(spread_tensor<D>({2, 2, 64, 64}, from, to), detail::Type<bfloat16>{}).detach().requires_grad_();
  };
  auto q = tensor(-0.5, 0.5), k = tensor(0, 0.5), v = tensor(0, 3);
  const auto g = to_type(spread_tensor<D>({2, 2, 64, 64}, 0.5, 1), detail::Type<bfloat16>{});
  const auto attend = [&] { return scaled_dot_product_attention(q, k, v, {}, {.dropout_p = 0.25}); };
  const auto y = attend();
  // The output is linear in the values: Σ y g = Σ v dv, if dv is of the weights of y.
  const std::vector outputs{y}, inputs{q, k, v}, slopes{g};
  const auto first = grad(outputs, inputs, slopes, {.retain_graph = true});
  const double yg = sum(to_type(y, f64) * to_type(g, f64)).item();
  CHECK(sum(to_type(v, f64) * to_type(first[2], f64)).item() == Approx(yg).epsilon(0.01));
  // A quarter of the weights is dropped, and others are another time.
  const auto kept = sum(to_type(scaled_dot_product_attention(q, k, v), f64) * to_type(g, f64)).item();
  CHECK(yg == Approx(kept).epsilon(0.05));
  CHECK(values_of(attend()) != values_of(y));
  // As tensor operations, which have derivatives, they are the same gradients.
  const auto second = grad(outputs, inputs, slopes, {.create_graph = true});
  CHECK(largest_error(values_of(first[0]), values_of(second[0])) < 0x1p-5);
  CHECK(largest_error(values_of(first[1]), values_of(second[1])) < 0x1p-5);
  CHECK(largest_error(values_of(first[2]), values_of(second[2])) < 0x1p-6);
  // The same seed gives the same.
  manual_seed(5);
  const auto a = values_of(attend());
  manual_seed(5);
  CHECK(values_of(attend()) == a);
}

TEMPLATE_TEST_CASE("attention takes its options without a mask, and PyTorch's positional arguments", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 5, 4}), y = spread_tensor<D>({1, 2, 5, 4}, 1, 2);
  const auto seen = ones<D, bool>({5, 5}).tril();
  const auto same = [](const auto& a, const auto& b) { CHECK(values_of(a) == values_of(b)); };
  const AttentionOptions causal{.is_causal = true};
  const auto expected = scaled_dot_product_attention(x, x, y, {}, causal);
  check_close(values_of(expected), values_of(scaled_dot_product_attention(x, x, y, seen)));
  same(scaled_dot_product_attention(x, x, y, {.is_causal = true}), expected);
  same(scaled_dot_product_attention(x, x, y, causal), expected);
  same(scaled_dot_product_attention(x, x, y, {}, 0.0, true), expected);
  same(scaled_dot_product_attention(x, x, y, seen, 0, false), scaled_dot_product_attention(x, x, y, seen));
  same(scaled_dot_product_attention(x, x, y, {}), scaled_dot_product_attention(x, x, y));
  const auto masked = scaled_dot_product_attention(x, x, y, seen), bias = spread_tensor<D>({5, 5}, 3, 4);
  same(scaled_dot_product_attention(x, x, y, {.attn_mask = seen}), masked);
  auto added = bias.clone().requires_grad_();
  const auto with_bias = scaled_dot_product_attention(x, x, y, {.attn_mask = added, .scale = 0.5});
  same(with_bias, scaled_dot_product_attention(x, x, y, bias, {.scale = 0.5}));
  with_bias.sum().backward();
  CHECK(added.grad().defined());
  CHECK_THAT(error_of([&] { scaled_dot_product_attention(x, x, y, seen, {.attn_mask = seen}); }),
             Catch::Matchers::ContainsSubstring("scaled_dot_product_attention: two masks"));
  CHECK_THAT(error_of([&] { scaled_dot_product_attention(x, x, y, {.attn_mask = ones<D, Index>({5, 5})}); }),
             Catch::Matchers::ContainsSubstring("scaled_dot_product_attention: "));
  CHECK_THAT(error_of([&] { scaled_dot_product_attention(x, ones<D, double>({1, 2, 5, 3}), y); }),
             Catch::Matchers::ContainsSubstring("keys [1, 2, 5, 3] must have the size of queries [1, 2, 5, 4]"));
  const auto dropped = [&](const auto& attend) {
    manual_seed(3);
    return values_of(attend());
  };
  CHECK(dropped([&] { return scaled_dot_product_attention(x, x, y, seen, 0.5); }) ==
        dropped([&] { return scaled_dot_product_attention(x, x, y, seen, {.dropout_p = 0.5}); }));
  TERN_TEST_LINE(scaled_dot_product_attention(x, x, y[0][0][0], {.is_causal = true}));
  TERN_TEST_LINE(scaled_dot_product_attention(x, x, y, seen, 0.0, true));
}

}  // namespace ops_attention
