// accessor<T, N>(): elements by indices, of views too.
#include <tern/tensor/accessor.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "tern/ops/views.hpp"
#include "tern/tensor/creation.hpp"

namespace tensor_accessor {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("an accessor reads and writes elements in place", "[tensor]", TERN_TEST_HOST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({{1, 2, 3}, {4, 5, 6}});
  const auto turned = x.t();
  const TensorAccessor<float, 2> a = turned.template accessor<float, 2>();
  CHECK((a.size(0) == 3 && a.size(1) == 2 && a.stride(0) == 1 && a.stride(1) == 3));
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 2; ++j) CHECK(a[i][j] == float(1 + i + 3 * j));
  a[2][0] = 7;
  x.template accessor<float, 2>()[1][0] = 8;
  CHECK(x.to_vector() == std::vector<float>{1, 2, 7, 8, 5, 6});
  const auto words = tensor<D, Index>({3, 1, 2});
  CHECK(words.template accessor<const Index, 1>()[2] == 2);
  CHECK(words.template accessor<Index, 1>().data() == words.data());
}

TEST_CASE("an accessor has the tensor's number of dimensions", "[tensor]") {
  const auto x = zeros<Cpu>({2, 3});
  CHECK(error_of([&] { x.accessor<float, 3>(); }) == "accessor: the tensor has 2 dimensions, not 3");
  CHECK(error_of([] { (void)std::as_const(*std::make_unique<Tensor<Cpu>>()).accessor<float, 1>(); }) ==
        "accessor: a tensor is undefined");
}

}  // namespace tensor_accessor
