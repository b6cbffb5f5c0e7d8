#include "support/tensors.hpp"

#include <tern/nn/embedding.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>

#include "../../examples/support/precision.hpp"

namespace trainers_with_precision {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(tanh(hidden(x))); }
};

/// Scores of whole numbers.
template <Device D, class T = float>
struct Words : nn::Module<D, T> {
  nn::Embedding<D, T> words{5, 3};
  TERN_FIELDS(Words, words)
  Tensor<D, T> forward(const Tensor<D, Index>& x) { return words(x); }
};

}  // namespace

TEMPLATE_TEST_CASE("with_precision: what is trained is what each precision says", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  const auto x = spread_tensor<D, float>({3, 4});
  const auto scores = [&](const char* precision) {
    return support::with_precision(precision, net.clone(), [&](auto own) {
      const bool is_bfloat16 = std::is_same_v<typename decltype(own)::value_type, bfloat16>;
      CHECK(is_bfloat16 == (precision == std::string("bf16-weights")));
      CHECK(own.in_half == (precision == std::string("f16")));
      return values_of(train::scores_of(own, x));
    });
  };
  CHECK(scores("f32") == values_of(net.clone()(x)));
  CHECK(scores("bf16") == values_of(nn::mixed<bfloat16>(net)(x)));
  CHECK(scores("bf16-weights") == values_of(net.to(bf16)(x.to(bf16)).to(f32)));
  if constexpr (std::is_same_v<D, Cpu>)
    CHECK_THAT(error_of([&] { scores("f16"); }), ContainsSubstring("--precision f16 is not for the CPU"));
  else CHECK(scores("f16") == values_of(nn::mixed<half>(net)(x)));
  CHECK_THAT(error_of([&] { scores("f64"); }), ContainsSubstring("--precision must be f32 or bf16"));
}

TEMPLATE_TEST_CASE("with_precision: networks of whole numbers", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Words<D> net;
  const Tensor<D, Index> x = arange<D, Index>(5);
  const std::vector<double> rounded = values_of(net.to(bf16)(x).to(f32));
  for (const char* const precision : {"f32", "bf16", "bf16-weights"}) {
    const auto found =
        support::with_precision<Index>(precision, net.clone(), [&](auto own) { return values_of(own(x).to(f32)); });
    CHECK(found == (precision == std::string("f32") ? values_of(net.clone()(x)) : rounded));
  }
}

}  // namespace trainers_with_precision
