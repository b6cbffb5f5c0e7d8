// Channels-last order: what contiguous() makes of it, and which results keep it.
#include "support/tensors.hpp"

#include <tern/ops/views.hpp>
#include <tern/tensor/creation.hpp>

namespace tensor_memory_format {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("channels_last is an order in memory and not of dimensions", "[tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = arange<D, float>(120).view({2, 3, 4, 5});
  x.requires_grad_();
  const auto y = x.contiguous(channels_last);
  CHECK(y.strides() == detail::Shape{60, 1, 15, 3});
  CHECK(y.is_contiguous(channels_last));
  CHECK_FALSE(y.is_contiguous());
  CHECK_FALSE(x.is_contiguous(channels_last));
  CHECK(eq(x, y).all().item());
  CHECK(y.contiguous(channels_last).impl() == y.impl());
  CHECK(y.contiguous().is_contiguous());
  (y * y).sum().backward();
  CHECK(eq(x.grad(), x * 2).all().item());
}

TEMPLATE_TEST_CASE("channels_last of 3 and 5 dimensions, and of sizes 1 and 0", "[tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(randn<D>({2, 3, 4}).contiguous(channels_last).strides() == detail::Shape{12, 1, 3});
  CHECK(randn<D>({2, 3, 4, 5, 6}).contiguous(channels_last).strides() == detail::Shape{360, 1, 90, 18, 3});
  CHECK(randn<D>({2, 1, 4, 5}).is_contiguous(channels_last));  // one channel: both orders
  CHECK(randn<D>({2, 3, 1, 1}).is_contiguous(channels_last));
  CHECK(randn<D>({0, 3, 4, 5}).is_contiguous(channels_last));
  CHECK(error_of([] { randn<D>({2, 3}).t().contiguous(channels_last); }) ==
        "contiguous: channels_last needs at least 3 dimensions, not [3, 2]");
}

TEMPLATE_TEST_CASE("elementwise results keep channels_last, beside broadcast operands too", "[tensor]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = randn<D>({2, 3, 4, 5}).contiguous(channels_last), scale = randn<D>({3, 1, 1});
  CHECK((x + 1).is_contiguous(channels_last));
  CHECK((x * scale).is_contiguous(channels_last));
  CHECK((scale * x).is_contiguous(channels_last));
  CHECK(relu(x).is_contiguous(channels_last));
  CHECK(empty<D>({2, 3, 4, 5}, channels_last).is_contiguous(channels_last));
}

}  // namespace tensor_memory_format
