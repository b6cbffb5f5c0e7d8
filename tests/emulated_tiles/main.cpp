// Products and attention of bfloat16 on emulated tiles, against the same in double.
#include "tiles.hpp"

#include <tern/cpu.hpp>

using namespace tern;

namespace {
int passed = 0, failed = 0;

/// bfloat16 has 8 bits: a result is within `units` of their last place, of the sum of the products' sizes.
void check(const char* what, Index m, Index n, Index k, const Tensor<Cpu, bfloat16>& y,
           const Tensor<Cpu, double>& expected, const Tensor<Cpu, double>& sizes, double units, long products) {
  const bool right = ((y.to(f64) - expected).abs() <= sizes * (units / 256) + 1e-30).all().item();
  const bool on_tiles = detail::backend::matmul_detail::emulated_products > products;
  ++(right && on_tiles ? passed : failed);
  std::printf("%s %s of %ld x %ld x %ld\n",
              right && on_tiles ? "ok"
              : on_tiles        ? "FAILED"
                                : "FAILED (without tiles)",
              what, long(m), long(n), long(k));
}

void products(Index m, Index n, Index k) {
  const auto a = randn<Cpu>({m, k}).to(bf16), b = randn<Cpu>({k, n}).to(bf16);
  const auto in_double = matmul(a.to(f64), b.to(f64)), sizes = matmul(a.to(f64).abs(), b.to(f64).abs());
  const long before = detail::backend::matmul_detail::emulated_products;
  check("a product", m, n, k, matmul(a, b), in_double, sizes, 1, before);
  check("a product with columns", m, n, k, matmul(a, b.t().contiguous().t()), in_double, sizes, 1, before);
  check("a product with both transposed", m, n, k, matmul(a.t().contiguous().t(), b.t().contiguous().t()), in_double,
        sizes, 1, before);
  const int threads = get_num_threads();
  set_num_threads(3);
  check("a product by three threads", m, n, k, matmul(a, b), matmul(a, b).to(f64), sizes, 0, before);
  set_num_threads(threads);
}

void attention(Index queries, Index keys, Index size, bool causal) {
  const auto q = randn<Cpu>({2, 2, queries, size}).to(bf16), k = randn<Cpu>({2, 2, keys, size}).to(bf16),
             v = randn<Cpu>({2, 2, keys, size}).to(bf16);
  const long before = detail::backend::matmul_detail::emulated_products;
  const NoGradGuard off;
  const auto y = scaled_dot_product_attention(q, k, v, {}, {.is_causal = causal});
  const auto scores = matmul(q.to(f64), k.to(f64).transpose(-2, -1)) / std::sqrt(double(size));
  const auto weights =
      softmax(causal ? scores.masked_fill(ones<Cpu>({queries, keys}).triu(1) > 0, -INFINITY) : scores, -1);
  check(causal ? "causal attention" : "attention", queries, keys, size, y, matmul(weights, v.to(f64)),
        matmul(weights, v.to(f64).abs()), 2, before);
}
}  // namespace

int main() {
  manual_seed(1);
  // Whole tiles, parts of tiles, few and many blocks, and sums so deep that they are added up in double.
  for (const auto [m, n, k] :
       {std::array<Index, 3>{64, 64, 64}, {33, 50, 70}, {100, 31, 96}, {17, 130, 33}, {40, 48, 1100}})
    products(m, n, k);
  for (const bool causal : {false, true})
    for (const auto [queries, keys, size] : {std::array<Index, 3>{64, 64, 64}, {70, 70, 40}, {33, 150, 64}})
      if (!causal || queries == keys) attention(queries, keys, size, causal);
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed > 0;
}
