// Copies with a view replaced.
#include "tern/ops/view_scatter.hpp"

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

namespace ops_view_scatter {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("slice_scatter replaces a slice of a copy", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D, double>({2, 4}), source = tensor_of<D>({1, 2, 3, 4}, {2, 2});
  CHECK(values_of(slice_scatter(x, source, 1, {0, 4, 2})) == std::vector<double>{1, 0, 2, 0, 3, 0, 4, 0});
  CHECK(values_of(slice_scatter(x, source, -1, {-2, {}})) == std::vector<double>{0, 0, 1, 2, 0, 0, 3, 4});
  CHECK(values_of(x) == std::vector<double>(8, 0));
  CHECK(error_of([&] {
          slice_scatter(x, source.narrow(1, 0, 1), 1, {0, 2});
        }).find("slice_scatter: a source of shape [2, 1] for the place of [2, 2]") == 0);
}

}  // namespace ops_view_scatter
