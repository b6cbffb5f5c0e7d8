#include "support/tensors.hpp"

#include <tern/io/dlpack.hpp>

namespace io_dlpack {
using namespace tern;
using namespace tern::io;
using namespace tern::io::dlpack;
using tern_test::error_of;

namespace {

/// A producer made by hand: owns its elements, counts how often it is given back.
template <class Managed>
struct Producer {
  std::vector<float> elements;
  std::vector<std::int64_t> shape, strides;
  int given_back = 0;
  Managed managed{};

  Producer(std::vector<std::int64_t> sizes, std::vector<std::int64_t> steps, std::size_t count)
      : elements(count), shape(std::move(sizes)), strides(std::move(steps)) {
    for (std::size_t i = 0; i < count; ++i) elements[i] = float(i);
    managed.dl_tensor = {elements.data(),
                         {kDLCPU, 0},
                         int(shape.size()),
                         {kDLFloat, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* m) { ++static_cast<Producer*>(m->manager_ctx)->given_back; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
};
using NewProducer = Producer<DLManagedTensorVersioned>;
using OldProducer = Producer<DLManagedTensor>;

}  // namespace

TEMPLATE_TEST_CASE("a tensor is given away and taken back without a copy", "[io]", TERN_TEST_DEVICES) {
  using D = TestType;
  if constexpr (std::is_same_v<D, Cuda> || std::is_same_v<D, Cpu>) {
    const auto exchange = [] {
      auto x = tern_test::tensor_of<D, float>({0, 1, 2, 3, 4, 5}, {2, 3});
      const std::vector<double> values = tern_test::values_of(x);
      for (const bool turned : {false, true}) {
        const auto view = turned ? x.t() : x;
        DLManagedTensorVersioned* const given = to_dlpack(view);
        DLManagedTensor* const old = to_dlpack_unversioned(view);
        CHECK(given->version.major == 1);
        CHECK(given->flags == 0);
        for (const DLTensor* t : {&given->dl_tensor, &old->dl_tensor}) {
          CHECK(t->data == x.impl()->data);
          CHECK(t->byte_offset == 0);
          CHECK(t->device.device_type == (HostDevice<D> ? kDLCPU : kDLCUDA));
          CHECK(t->device.device_id == tern::detail::ordinal_of(x.device()));
          CHECK(t->dtype.code == kDLFloat);
          CHECK(t->dtype.bits == 32);
          CHECK(t->dtype.lanes == 1);
          REQUIRE(t->ndim == 2);
          CHECK(t->shape[0] == (turned ? 3 : 2));
          CHECK(t->strides[0] == (turned ? 1 : 3));
          CHECK(t->strides[1] == (turned ? 3 : 1));
        }
        const auto back = from_dlpack(given).template as<D>(), older = from_dlpack(old).template as<D>();
        CHECK(back.shape() == view.shape());
        CHECK(back.is_contiguous() == !turned);
        CHECK(tern_test::values_of(back) == tern_test::values_of(view));
        older.add_(1.);
        CHECK(tern_test::values_of(x)[5] == values[5] + 1);
        x.sub_(1.);
        CHECK(tern_test::values_of(back)[0] == 0);
      }
      // The receiver keeps the elements alive.
      DLManagedTensorVersioned* given = to_dlpack(x);
      x = {};
      CHECK(tern_test::values_of(from_dlpack(given).template as<D>()) == values);
    };
    exchange();
    const Index before = tern_test::memory_in_use();
    for (int i = 0; i < 200; ++i) {
      const auto large = zeros<D>({100'000});
      from_dlpack(to_dlpack(large));
      from_dlpack(to_dlpack_unversioned(large));
    }
    exchange();
    CHECK(tern_test::memory_in_use() - before < (1 << 20));
  } else {
    CHECK(error_of([] { to_dlpack(ones<D>({2})); }).starts_with("to_dlpack: DLPack has no device '"));
  }
}

TEST_CASE("every element type has its DLPack type", "[io]") {
  const auto check = [](const auto& x, int code, int bits) {
    DLManagedTensorVersioned* const given = to_dlpack(x);
    CHECK(int(given->dl_tensor.dtype.code) == code);
    CHECK(int(given->dl_tensor.dtype.bits) == bits);
    const AnyTensor back = from_dlpack(given);
    CHECK(back.dtype() == x.dtype());
    CHECK(back.impl()->data == x.impl()->data);
  };
  check(zeros<Cpu, float>({2}), 2, 32);
  check(zeros<Cpu, double>({2}), 2, 64);
  check(zeros<Cpu, half>({2}), 2, 16);
  check(zeros<Cpu, bfloat16>({2}), 4, 16);
  check(zeros<Cpu, std::int64_t>({2}), 0, 64);
  check(zeros<Cpu, std::int32_t>({2}), 0, 32);
  check(zeros<Cpu, std::uint8_t>({2}), 1, 8);
  check(zeros<Cpu, bool>({2}), 6, 8);
  check(zeros<Cpu>({}), 2, 32);
  check(zeros<Cpu>({0, 3}), 2, 32);
}

TEMPLATE_TEST_CASE("another library's elements are used where they are, and given back once", "[io]", NewProducer,
                   OldProducer) {
  SECTION("row-major, without strides") {
    TestType producer({2, 3}, {}, 6);
    {
      const auto x = from_dlpack(&producer.managed).template as<Cpu>();
      CHECK(x.data() == producer.elements.data());
      CHECK(x.is_contiguous());
      CHECK(x(1, 2) == 5);
      const auto view = x.t();
      x.fill_(7);
      CHECK(producer.elements[4] == 7);
      CHECK(view(2, 1) == 7);
      CHECK(producer.given_back == 0);
    }
    CHECK(producer.given_back == 1);
  }
  SECTION("a view outlives the tensor") {
    TestType producer({4}, {}, 4);
    {
      auto view = from_dlpack(&producer.managed).template as<Cpu>().slice(0, {1, 3});
      CHECK(producer.given_back == 0);
      CHECK(view(0) == 1);
    }
    CHECK(producer.given_back == 1);
  }
  SECTION("strides, an offset, repeated elements") {
    TestType producer({2, 2, 3}, {1, 4, 0}, 8);
    producer.managed.dl_tensor.byte_offset = 4;
    const auto x = from_dlpack(&producer.managed).template as<Cpu>();
    CHECK(!x.is_contiguous());
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 2; ++j)
        for (Index k = 0; k < 3; ++k) CHECK(x(i, j, k) == float(1 + i + 4 * j));
    CHECK((x * 2)(1, 1, 2) == 12);
  }
  SECTION("a gradient flows to it") {
    TestType producer({3}, {}, 3);
    auto x = from_dlpack(&producer.managed).template as<Cpu>();
    x.requires_grad_();
    (x * x).sum().backward();
    CHECK(x.grad()(2) == 4);
  }
  SECTION("nothing to delete") {
    TestType producer({3}, {}, 3);
    producer.managed.deleter = nullptr;
    CHECK(from_dlpack(&producer.managed).numel() == 3);
  }
}

TEST_CASE("what no tensor can be is refused, and stays its owner's", "[io]") {
  const auto refusal = [](const auto& spoil) {
    NewProducer producer({2, 2}, {2, 1}, 4);
    spoil(producer.managed);
    const std::string message = error_of([&] { from_dlpack(&producer.managed); });
    CHECK(producer.given_back == 0);
    return message;
  };
  using Given = DLManagedTensorVersioned;
  CHECK(refusal([](Given& g) { g.version = {2, 3}; }) == "from_dlpack: the structure is of version 2.3, not 1.x");
  CHECK(refusal([](Given& g) { g.flags = 1; }) ==
        "from_dlpack: the elements are read-only, which a tensor's cannot be; copy them first");
  CHECK(refusal([](Given& g) { g.dl_tensor.device.device_type = 10; }) ==
        "from_dlpack: device type 10 is neither the host's memory nor CUDA's");
  CHECK(refusal([](Given& g) {
          g.dl_tensor.device = {kDLCUDA, 99};
        }).starts_with("from_dlpack: there is no CUDA device 99"));
  CHECK(refusal([](Given& g) { g.dl_tensor.ndim = 9; }) == "from_dlpack: a tensor has up to 8 dimensions, not 9");
  CHECK(refusal([](Given& g) { g.dl_tensor.dtype = {5, 64, 1}; }) ==
        "from_dlpack: elements of code 5, 64 bits and 1 lanes are no element type of a tensor");
  CHECK(refusal([](Given& g) { g.dl_tensor.dtype.lanes = 4; }) ==
        "from_dlpack: elements of code 2, 32 bits and 4 lanes are no element type of a tensor");
  CHECK(refusal([](Given& g) { g.dl_tensor.shape[1] = -2; }) == "from_dlpack: negative size in [2, -2]");
  CHECK(refusal([](Given& g) { g.dl_tensor.strides[0] = -2; }) ==
        "from_dlpack: negative stride in [-2, 1]; a tensor's strides are not negative, copy it first");
  CHECK(refusal([](Given& g) { g.dl_tensor.data = nullptr; }) ==
        "from_dlpack: a null pointer does not hold shape [2, 2]");
  CHECK(refusal([](Given& g) { g.dl_tensor.byte_offset = 2; }) ==
        "from_dlpack: the elements are not aligned to the 4 bytes of float32");
  CHECK(error_of([] { to_dlpack({}); }) == "to_dlpack: the tensor is undefined");
  auto x = ones<Cpu>({2});
  x.requires_grad_();
  CHECK(error_of([&] { to_dlpack(x); }) ==
        "to_dlpack: the tensor requires a gradient, which others would not see; detach() it");
  CHECK(error_of([&] { to_dlpack_unversioned(x); }) != "");
}

}  // namespace io_dlpack
