#include "support/catch.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include <tern/io/safetensors.hpp>
#include <tern/tensor/creation.hpp>

#include "temporary_folder.hpp"

namespace io_safetensors {
using namespace tern;
using tern_test::content_of;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

const AnyTensor& at(const StateDict& dict, const std::string& name) {
  for (const NamedTensor& entry : dict)
    if (entry.name == name) return entry.tensor;
  FAIL("no tensor " + name);
  throw std::logic_error("unreachable");
}

template <class T>
void check_values(const StateDict& dict, const std::string& name, const detail::Shape& shape,
                  std::initializer_list<T> values) {
  INFO(name);
  const Tensor<Cpu, T> x = at(dict, name).as<Cpu, T>();
  REQUIRE(x.shape() == shape);
  REQUIRE(x.numel() == Index(values.size()));
  CHECK(std::equal(values.begin(), values.end(), x.data()));
}

template <class T>
Tensor<Cpu, T> make(std::initializer_list<T> values, const detail::Shape& shape) {
  Tensor<Cpu, T> x = empty<Cpu, T>(shape);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

StateDict one_of_each() {
  return {{"b", make<float>({0, 1, 2, 3, 4, 5}, {2, 3})},
          {"a", make<std::int64_t>({1, 2}, {2})},
          {"h", make<half>({half(1.5f)}, {1})},
          {"u", make<std::uint8_t>({7, 8, 9}, {3})},
          {"d", make<double>({2.5}, {})},
          {"t", make<bool>({true, false}, {2})},
          {"i", make<std::int32_t>({-1}, {1})},
          {"e", make<float>({}, {0, 3})}};
}

void check_one_of_each(const StateDict& dict) {
  REQUIRE(dict.size() == 8);
  check_values<float>(dict, "b", {2, 3}, {0, 1, 2, 3, 4, 5});
  check_values<std::int64_t>(dict, "a", {2}, {1, 2});
  check_values<half>(dict, "h", {1}, {half(1.5f)});
  check_values<std::uint8_t>(dict, "u", {3}, {7, 8, 9});
  check_values<double>(dict, "d", {}, {2.5});
  check_values<bool>(dict, "t", {2}, {true, false});
  check_values<std::int32_t>(dict, "i", {1}, {-1});
  check_values<float>(dict, "e", {0, 3}, {});
}

/// The file that Python's safetensors 0.8.0 wrote of one_of_each() and the metadata {"format": "pt"}.
std::string pythons_file() {
  const char head[] =
      "\xe0\x01\0\0\0\0\0\0"
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
      R"("d":{"dtype":"F64","shape":[],"data_offsets":[16,24]},)"
      R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},)"
      R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[48,48]},)"
      R"("i":{"dtype":"I32","shape":[1],"data_offsets":[48,52]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[52,54]},"u":{"dtype":"U8","shape":[3],"data_offsets":[54,57]},)"
      R"("t":{"dtype":"BOOL","shape":[2],"data_offsets":[57,59]}}      )";
  const char data[] =
      "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\4\x40\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0"
      "\x40"
      "\xff\xff\xff\xff\0\x3e\7\x8\x9\1\0";
  return std::string(head, sizeof head - 1) + std::string(data, sizeof data - 1);
}

/// A file with the header `json` and so many bytes of value 1.
std::string file(const std::string& json, int data_bytes) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = char(json.size() >> (8 * i) & 0xff);
  return out + json + std::string(std::size_t(data_bytes), '\1');
}

int python(const std::string& code) {
  const int status = std::system(("python3 -c '" + code + "' 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("Python's file is read, and written to the last byte", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x.safetensors", pythons_file());
  check_one_of_each(io::load_safetensors(path));
  CHECK(io::safetensors_metadata(path) == io::SafetensorsMetadata{{"format", "pt"}});
  io::save_safetensors(folder / "y.safetensors", one_of_each(), {{"format", "pt"}});
  CHECK(content_of(folder / "y.safetensors") == pythons_file());
}

TEST_CASE("Python's package agrees", "[io]") {
  if (python("import numpy, safetensors.numpy") != 0) SKIP_TEST("needs Python with numpy and safetensors");
  const TemporaryFolder folder;
  const std::string ours = folder / "ours", theirs = folder / "theirs";
  const StateDict saved = {{"w \"\\\n\xc3\xa9", make<float>({1, -2, 3.5}, {3, 1})},
                           {"n", make<std::int64_t>({1 << 30}, {})}};
  io::save_safetensors(ours, saved, {{"k", "v\t"}});
  CHECK(python("from safetensors.numpy import *\nfrom safetensors import safe_open\nd = load_file(\"" + ours +
               "\")\nassert d[\"n\"] == 1 << 30 and d[\"n\"].shape == ()\n"
               "assert d[\"w \\\"\\\\\\n\\u00e9\"].tolist() == [[1], [-2], [3.5]]\n"
               "assert safe_open(\"" +
               ours +
               "\", \"np\").metadata() == {\"k\": \"v\\t\"}\n"
               "save_file(d, \"" +
               theirs + "\")") == 0);
  const StateDict loaded = io::load_safetensors(theirs);
  REQUIRE(loaded.size() == 2);
  check_values<float>(loaded, "w \"\\\n\xc3\xa9", {3, 1}, {1, -2, 3.5});
  check_values<std::int64_t>(loaded, "n", {}, {1 << 30});
}

TEST_CASE("every element type comes back", "[io]") {
  const TemporaryFolder folder;
  StateDict dict = one_of_each();
  io::save_safetensors(folder / "x", dict);
  check_one_of_each(io::load_safetensors(folder / "x"));
  io::save_safetensors(folder / "x", {{"bf", make<bfloat16>({bfloat16(1.5f), bfloat16(-2.f)}, {2, 1})}});
  check_values<bfloat16>(io::load_safetensors(folder / "x"), "bf", {2, 1}, {bfloat16(1.5f), bfloat16(-2.f)});
  io::save_safetensors(folder / "x", {});
  CHECK(io::load_safetensors(folder / "x").empty());
  CHECK(folder.file_count() == 1);
}

TEST_CASE("one tensor is loaded whatever the others are", "[io]") {
  const TemporaryFolder folder;
  const std::string json =
      R"({"__metadata__":null,"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},)"
      R"("d":{"dtype":"U16","shape":[1,1],"data_offsets":[2,4]},"b":{"dtype":"BOOL","shape":[1],"data_offsets":[4,5]}})";
  std::string bytes = file(json, 5);
  bytes.back() = '\2';
  const std::string path = folder.put("x", bytes), start = "safetensors: '" + path + "': tensor '";
  const io::Safetensors tensors(path);
  CHECK(tensors.names() == std::vector<std::string>{"w", "d", "b"});
  CHECK(tensors.metadata().empty());
  CHECK(tensors.dtype("w") == "F8_E4M3");
  CHECK(tensors.shape("w") == detail::Shape{2});
  CHECK(tensors.dtype("d") == "uint16");
  CHECK(tensors.shape("d") == detail::Shape{1, 1});
  CHECK(tensors.load("d").as<Cpu, std::int32_t>().item() == 0x0101);
  CHECK(tensors.load<double>("d").item() == 0x0101);
  CHECK(error_of([&] { tensors.load<std::uint8_t>("d"); }) == start + "d': 257 at position 0 does not fit into uint8");
  CHECK(error_of([&] { tensors.load("w"); }) == start + "w' has a type that is not supported: F8_E4M3");
  CHECK(error_of([&] { tensors.load<float>("w"); }) == start + "w' has a type that is not supported: F8_E4M3");
  CHECK(error_of([&] { tensors.load("b"); }) == start + "b': a bool is the byte 2 at position 0");
  CHECK(error_of([&] { tensors.load("x"); }) == "safetensors: '" + path + "': has no tensor 'x'");
  CHECK(error_of([&] { io::load_safetensors(path); }) == start + "w' has a type that is not supported: F8_E4M3");
}

TEST_CASE("a loaded tensor outlives its file, and shares its memory where the type is the file's", "[io]") {
  const TemporaryFolder folder;
  io::save_safetensors(folder / "x", one_of_each());
  Tensor<Cpu> b, same;
  Tensor<Cpu, double> wide;
  {
    const io::Safetensors tensors(folder / "x");
    b = tensors.load<float>("b");
    same = tensors.load("b").as<Cpu>();
    wide = tensors.load<double>("b");
  }
  CHECK(b.data() == same.data());
  CHECK(b.data()[5] == 5);
  CHECK(wide.data()[5] == 5);
}

TEST_CASE("tensors in other memory orders are written row by row", "[io]") {
  const TemporaryFolder folder;
  const auto x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  detail::TensorImpl* const turned = tern::detail::new_detached(x.impl());
  std::swap(turned->dims[0], turned->dims[1]);
  std::swap(turned->strides[0], turned->strides[1]);
  detail::update_contiguous(*turned);
  io::save_safetensors(folder / "x", {{"t", Tensor<Cpu>(turned)}});
  check_values<float>(io::load_safetensors(folder / "x"), "t", {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST_CASE("tensors keep their file's mapping, and writing to them does not reach the file", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  io::save_safetensors(path, {{"a", make<float>({1, 2}, {2})}, {"b", make<float>({3}, {1})}});
  const std::string before = content_of(path);
  Tensor<Cpu> a;
  {
    const StateDict dict = io::load_safetensors(path);
    a = at(dict, "a").as<Cpu>();
    CHECK(at(dict, "b").as<Cpu>().data() == a.data() + 2);  // in place, not copied
  }
  a.data()[0] = 9;
  CHECK(content_of(path) == before);
  io::save_safetensors(path, {{"a", a}});  // over the file that a lies in
  CHECK(a.data()[1] == 2);
  check_values<float>(io::load_safetensors(path), "a", {2}, {9, 2});
}

TEST_CASE("tensors at addresses that do not suit their type are copied", "[io]") {
  const TemporaryFolder folder;
  const std::string json = R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  for (int pad = 0; pad < 8; ++pad) {
    const std::string path = folder.put("x", file(json + std::string(std::size_t(pad), ' '), 8));
    const auto x = at(io::load_safetensors(path), "x").as<Cpu, double>();
    CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % sizeof(double) == 0);
    const std::uint64_t ones = 0x0101010101010101;
    CHECK(std::memcmp(x.data(), &ones, 8) == 0);
  }
}

TEST_CASE("what cannot be a safetensors file is refused by name", "[io]") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    const std::string path = folder.put("x", bytes);
    return error_of([&] { io::load_safetensors(path); });
  };
  const std::string start = "safetensors: '" + (folder / "x") + "': ";
  const std::string whole = pythons_file();
  CHECK(refusal("") == start + "is truncated: 0 bytes cannot hold the header's length");
  for (std::size_t n = 0; n < whole.size(); n += 7) CHECK(refusal(whole.substr(0, n)).starts_with(start));
  CHECK(refusal(whole + "x") == start + "1 bytes at the end belong to no tensor");
  CHECK(refusal(file(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2)) == "");
  std::string not_bool = whole;
  not_bool.back() = '\2';
  CHECK(refusal(not_bool) == start + "tensor 't': a bool is the byte 2 at position 1");
  CHECK(error_of([&] { io::load_safetensors(folder / "none"); }) ==
        "file: '" + (folder / "none") + "': cannot be opened: No such file or directory");
}

TEST_CASE("what cannot be written is refused, and the old file stays", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", "old");
  CHECK(error_of([&] { io::save_safetensors(path, {{"w", AnyTensor()}}); }) ==
        "save_safetensors: tensor 'w' is undefined");
  const auto x = make<float>({1}, {1});
  CHECK(error_of([&] { io::save_safetensors(path, {{"w", x}, {"w", x}}); }) ==
        "safetensors: '" + path + "': the header names 'w' twice");
  CHECK(error_of([&] { io::save_safetensors(path, {{"__metadata__", x}}); }) ==
        "save_safetensors: the format reserves the name '__metadata__' for the metadata");
  CHECK(content_of(path) == "old");
  CHECK(folder.file_count() == 1);
}

}  // namespace io_safetensors
