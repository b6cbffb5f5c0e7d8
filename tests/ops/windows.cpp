#include "tern/ops/windows.hpp"
#include "support/tensors.hpp"

namespace ops_windows {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

// Recorded of torch.hann_window and the others, in float64.
TEMPLATE_TEST_CASE("windows are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double h1 = 0.3454915028125263, h2 = 0.9045084971874737;
  check_close(values_of(hann_window<D, double>(5)), {0, h1, h2, h2, h1});
  check_close(values_of(hann_window<D, double>(5, false)), {0, 0.5, 1, 0.5, 0});
  static_assert(std::is_same_v<decltype(hann_window<D>(5, false, f64)), Tensor<D, double>>);
  check_close(values_of(hann_window<D>(5, false, f64)), {0, 0.5, 1, 0.5, 0});
  check_close(values_of(hann_window<D, double>(6)), {0, 0.25, 0.75, 1, 0.75, 0.25});
  const double m1 = 0.3978521825875242, m2 = 0.9121478174124757;
  check_close(values_of(hamming_window<D, double>(5)), {0.08, m1, m2, m2, m1});
  check_close(values_of(hamming_window<D, double>(6, false)), {0.08, m1, m2, m2, m1, 0.08});
  check_close(values_of(hamming_window<D, double>(4, true, 0.6, 0.3)), {0.3, 0.6, 0.9, 0.6});
  const double b1 = 0.20077014326253045, b2 = 0.8492298567374694;
  check_close(values_of(blackman_window<D, double>(5)), {0, b1, b2, b2, b1});
  check_close(values_of(blackman_window<D, double>(5, false)), {0, 0.34, 1, 0.34, 0});
  check_close(values_of(bartlett_window<D, double>(5)), {0, 0.4, 0.8, 0.8, 0.4});
  check_close(values_of(bartlett_window<D, double>(6, false)), {0, 0.4, 0.8, 0.8, 0.4, 0});
  const double k0 = 5.2773441320097665e-05, k1 = 0.10171968770956323, k2 = 0.7929398341014605;
  check_close(values_of(kaiser_window<D, double>(5)), {k0, k1, k2, k2, k1});
  check_close(values_of(kaiser_window<D, double>(5, false)), {k0, 0.2156727447589671, 1, 0.2156727447589671, k0});
  const double n0 = 0.036710892271286676, n1 = 0.5528517696991324;
  check_close(values_of(kaiser_window<D, double>(5, false, 5)), {n0, n1, 1, n1, n0});
}

TEMPLATE_TEST_CASE("windows of no, one and two elements", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& f : {+[](Index n, bool periodic) { return hann_window<D>(n, periodic); },
                        +[](Index n, bool periodic) { return hamming_window<D>(n, periodic); },
                        +[](Index n, bool periodic) { return blackman_window<D>(n, periodic); },
                        +[](Index n, bool periodic) { return bartlett_window<D>(n, periodic); },
                        +[](Index n, bool periodic) { return kaiser_window<D>(n, periodic); }}) {
    for (const bool periodic : {false, true}) {
      CHECK(f(0, periodic).shape() == detail::Shape{0});
      CHECK(values_of(f(1, periodic)) == Values{1});
    }
    const Values two = values_of(f(2, false));
    CHECK(two[0] == two[1]);
    check_close(values_of(f(8, true)), values_of(f(9, false).narrow(0, 0, 8)));
  }
  check_close(values_of(hann_window<D, bfloat16>(6)), {0, 0.25, 0.75, 1, 0.75, 0.25});
  CHECK(error_of([] { hann_window<D>(-1); }) == "hann_window: the length must not be negative: -1");
  TERN_TEST_LINE(kaiser_window<D>(-1));
}

}  // namespace ops_windows
