// AnyTensor: what it holds, and what it refuses.
#include "support/tensors.hpp"

#include <tern/tensor/any_tensor.hpp>
#include <tern/tensor/creation.hpp>

namespace tensor_any_tensor {
using namespace tern;
using namespace tern_test;

TEST_CASE("AnyTensor holds tensors of any device and type", "[any_tensor]") {
  const auto a = tensor<Cpu>({{1, 2}, {3, 4}});
  const auto b = tensor<Naive, std::int64_t>({5, 6});
  std::vector<AnyTensor> all{a, b};
  CHECK(all[0].dtype() == DType::float32);
  CHECK(all[0].device_name() == std::string("cpu"));
  CHECK(all[0].shape() == detail::Shape{2, 2});
  CHECK(all[0].numel() == 4);
  CHECK(all[1].device_name() == std::string("naive"));
  CHECK(all[0].is<Cpu>());
  CHECK_FALSE(all[0].is<Cpu, double>());
  CHECK_FALSE(all[1].is<Cpu, std::int64_t>());
  CHECK(all[0].as<Cpu>().impl() == a.impl());
  CHECK(values_of(all[1].as<Naive, std::int64_t>()) == std::vector<double>{5, 6});
}

TEST_CASE("AnyTensor keeps its tensor alive, and lets it go", "[any_tensor]") {
  float number = 3;
  int freed = 0;
  AnyTensor any = from_blob<Cpu>(&number, {1}, [](void*, void* count) { ++*static_cast<int*>(count); }, &freed);
  AnyTensor copy = any, moved = std::move(any);
  CHECK_FALSE(any.defined());
  any = copy;
  copy = AnyTensor();
  moved = AnyTensor();
  CHECK(freed == 0);
  CHECK(any.as<Cpu>().item() == 3);
  any = AnyTensor();
  CHECK(freed == 1);
}

TEST_CASE("a wrong device or type is named together with the right one", "[any_tensor][refusal]") {
  const AnyTensor any = tensor<Cpu>({1});
  CHECK(error_of([&] { any.as<Cpu, double>(); }) == "as: the tensor is cpu, float32, not cpu, float64");
  CHECK(error_of([&] { any.as<Naive>(); }) == "as: the tensor is cpu, float32, not naive, float32");
  CHECK(error_of([&] { AnyTensor().as<Cpu>(); }) == "as: the tensor is undefined, not cpu, float32");
  CHECK_FALSE(AnyTensor().defined());
  CHECK_FALSE(AnyTensor(Tensor<Cpu>()).defined());
  CHECK_THROWS_AS(AnyTensor().dtype(), Error);
  CHECK_THROWS_AS(AnyTensor().shape(), Error);
  CHECK_THROWS_AS(AnyTensor().device_name(), Error);
}

}  // namespace tensor_any_tensor
