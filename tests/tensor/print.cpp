// The text of a tensor is PyTorch's (recorded/printing.json), but for what stands after the elements.
#include "support/json.hpp"
#include "support/tensors.hpp"

#include <tern/tensor/print.hpp>

#include <sstream>

namespace tensor_print {
using namespace tern;
using namespace tern_test;

namespace {

/// What stands before the dtype, the size, or tern's type.
std::string elements(const std::string& text) {
  std::size_t end = text.size() - 1;
  for (const char* suffix : {"dtype=", "size=", "Tensor<"}) {
    const std::size_t at = text.find(suffix);
    if (at != std::string::npos) end = std::min(end, text.rfind(',', at));
  }
  return text.substr(0, end);
}

double number(const Json& value) {
  if (value.is_string()) return value == "nan" ? NAN : value == "inf" ? INFINITY : -INFINITY;
  return value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
}

template <class D, class T>
Tensor<D, T> recorded_tensor(const Json& c) {
  const Tensor<Cpu, T> x =
      empty<Cpu, T>(detail::Shape(c["shape"].get<std::vector<Index>>().data(), int(c["shape"].size())));
  for (Index i = 0; i < x.numel(); ++i) {
    const Json& data = c["data"];
    x.data()[i] =
        T(compute_t<T>(data.is_object() ? double(i) * data["arange"].get<double>() : number(data[std::size_t(i)])));
  }
  return to_device(x, detail::current_device<D>());
}

template <class D, class T>
void check_type(const Json& c) {
  if (c["dtype"] != detail::name_of(dtype_of<T>)) return;
  const Tensor<D, T> x = recorded_tensor<D, T>(c);
  INFO(c["name"].get<std::string>());
  for (const Tensor<D, T>& y : x.numel() ? layouts(x) : std::vector{x})
    CHECK(elements(to_string(y)) == elements(c["text"]));
}

}  // namespace

TEMPLATE_TEST_CASE("tensors print as PyTorch's do", "[print]", TERN_TEST_DEVICES) {
  const Json table = read_recorded("printing.json");
  REQUIRE(table["cases"].size() > 40);
  for (const Json& c : table["cases"]) {
    check_type<TestType, float>(c);
    check_type<TestType, double>(c);
    check_type<TestType, bfloat16>(c);
    check_type<TestType, half>(c);
    check_type<TestType, std::int64_t>(c);
    check_type<TestType, std::int32_t>(c);
    check_type<TestType, std::uint8_t>(c);
    check_type<TestType, bool>(c);
  }
}

TEST_CASE("type and shape follow the elements", "[print]") {
  CHECK(to_string(full<Cpu>({}, 0.5)) == "tensor(0.5000, Tensor<Cpu, float>[])");
  CHECK(to_string(ones<Cpu, std::int64_t>({2, 1})) == "tensor([[1],\n        [1]], Tensor<Cpu, int64_t>[2, 1])");
  CHECK(to_string(empty<Cpu, bool>({0, 3})) == "tensor([], Tensor<Cpu, bool>[0, 3])");
  CHECK(to_string(Tensor<Cpu, half>()) == "tensor(undefined, Tensor<Cpu, half>)");
  const auto x = ones<Cpu, double>({1}).requires_grad_();
  CHECK(to_string(x) == "tensor([1.], Tensor<Cpu, double>[1], requires_grad=True)");
  CHECK(to_string(zeros<Naive>({1})) == "tensor([0.], Tensor<Naive, float>[1])");
  // A line that would pass 80 columns is broken before the type.
  CHECK(to_string(full<Cpu>({8}, 0.5)) ==
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000],\n       Tensor<Cpu, float>[8])");
  std::ostringstream stream;
  stream << full<Cpu, std::int32_t>({2}, -7);
  CHECK(stream.str() == "tensor([-7, -7], Tensor<Cpu, int32_t>[2])");
  stream.str("");
  stream << ones<Cpu>({2, 3}).shape() << detail::Shape{};
  CHECK(stream.str() == "[2, 3][]");
}

TEST_CASE("integers print exactly, and 64-bit ones beyond what a double holds", "[print]") {
  auto x = full<Cpu, std::int64_t>({2}, std::int64_t(1) << 62);
  x.data()[1] += 1;
  CHECK(elements(to_string(x)) == "tensor([4611686018427387904, 4611686018427387905]");
}

TEST_CASE("set_printoptions changes digits, length and notation", "[print]") {
  const auto x = tensor<Cpu, double>({1.23456789, 2});
  set_printoptions({.precision = 7});
  CHECK(elements(to_string(x)) == "tensor([1.2345679, 2.0000000]");
  set_printoptions({.precision = 2, .sci_mode = true});
  CHECK(elements(to_string(x)) == "tensor([1.23e+00, 2.00e+00]");
  set_printoptions({.sci_mode = false});
  CHECK(elements(to_string(tensor<Cpu>({1e-5, 1}))) == "tensor([0.0000, 1.0000]");
  set_printoptions({.threshold = 5, .edgeitems = 1});
  CHECK(elements(to_string(arange<Cpu, Index>(6))) == "tensor([0,  ..., 5]");
  set_printoptions({.linewidth = 12});
  CHECK(elements(to_string(arange<Cpu, Index>(4))) == "tensor([0,\n        1,\n        2,\n        3]");
  set_printoptions();
  CHECK(elements(to_string(x)) == "tensor([1.2346, 2.0000]");
  CHECK_THAT(tern_test::error_of([] { set_printoptions({.precision = 99}); }),
             Catch::Matchers::ContainsSubstring("set_printoptions: precision must be from 0 to 50, not 99"));
}

TEMPLATE_TEST_CASE("shapes, element types and devices have texts", "[print]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D, Index>({2, 3});
  const auto printed = [](const auto& y) {
    std::ostringstream out;  // with a name: a temporary's << looks for the device's in its namespace alone
    out << y;
    return out.str();
  };
  CHECK(to_string(x.shape()) == "[2, 3]");
  CHECK(printed(x.shape()) == "[2, 3]");
  CHECK(to_string(detail::Shape()) == "[]");
  CHECK(printed(x.dtype()) == "int64");
  CHECK(printed(AnyTensor(x).dtype()) == "int64");
  CHECK(printed(x.device()) == DeviceTraits<D>::name + std::string(HostDevice<D> ? "" : ":0"));
  CHECK(to_string(AnyTensor(x)) == to_string(x));
  CHECK(printed(AnyTensor(x)) == printed(x));
  CHECK(to_string(AnyTensor()) == "tensor(undefined)");
}

}  // namespace tensor_print
