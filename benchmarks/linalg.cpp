// Linear algebra of square matrices, one at a time.
#include <benchmark/benchmark.h>
#include <tern/linalg/linalg.hpp>
#include <tern/tern.hpp>

#include <string>

namespace {

using namespace tern;

template <class T, class F>
void add_row(const std::string& name, const F& f) {
  for (const Index n : {64, 256, 512})
    benchmark::RegisterBenchmark((name + std::to_string(n) + (sizeof(T) == 8 ? "_f64" : "")).c_str(),
                                 [n, f](benchmark::State& state) {
                                   const NoGradGuard guard;
                                   const auto a = randn<Cpu, T>({n, n}), b = randn<Cpu, T>({n, n}),
                                              definite = matmul(a, a.mT()) + eye<Cpu, T>(n);
                                   for (auto _ : state) benchmark::DoNotOptimize(f(a, b, definite).impl());
                                 })
        ->UseRealTime();
}

template <class T>
void add_rows() {
  add_row<T>("inv", [](const auto& a, const auto&, const auto&) { return linalg::inv(a); });
  add_row<T>("solve", [](const auto& a, const auto& b, const auto&) { return linalg::solve(a, b); });
  add_row<T>("cholesky", [](const auto&, const auto&, const auto& definite) { return linalg::cholesky(definite); });
  add_row<T>("det", [](const auto& a, const auto&, const auto&) { return linalg::det(a); });
  add_row<T>("qr", [](const auto& a, const auto&, const auto&) { return linalg::qr(a).Q; });
  add_row<T>("eigh",
             [](const auto&, const auto&, const auto& definite) { return linalg::eigh(definite).eigenvectors; });
  add_row<T>("svd", [](const auto& a, const auto&, const auto&) { return linalg::svd(a, false).U; });
}

const bool added = (add_rows<float>(), add_rows<double>(), true);

}  // namespace
