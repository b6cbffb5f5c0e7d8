// .npz archives: numpy's own, ours, and damaged ones.
#include "recorded_bytes.hpp"
#include "temporary_folder.hpp"

#include <tern/io/npz.hpp>

namespace io_npz {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("numpy's archives are read, packed or not") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("archive")) continue;
    INFO(recorded["name"]);
    ++seen;
    const StateDict arrays = io::load_npz(folder.put("a.npz", bytes_of(recorded["archive"])));
    REQUIRE(arrays.size() == 3);
    CHECK(arrays[0].name == "x");
    CHECK(values_of(arrays[0].tensor.as<Cpu, Index>()) == recorded["arrays"]["x"].get<std::vector<double>>());
    CHECK(arrays[1].name == "w.b");
    CHECK(arrays[1].tensor.shape() == detail::Shape{2, 2});
    CHECK(values_of(arrays[2].tensor.as<Cpu, double>()) == std::vector<double>(500, 0));
  }
  CHECK(seen == 2);
}

TEST_CASE("one array is loaded whatever the others are") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("mixed")) continue;
    INFO(recorded["name"]);
    ++seen;
    const std::string path = folder.put("a.npz", bytes_of(recorded["mixed"]));
    const io::Npz file(path);
    CHECK(file.names() == std::vector<std::string>{"names", "depth", "half"});
    CHECK(file.dtype("names") == "<U1");
    CHECK(file.shape("names") == detail::Shape{2});
    CHECK(file.dtype("depth") == "uint16");
    CHECK(file.shape("depth") == detail::Shape{1, 2});
    CHECK(file.dtype("half") == "float16");
    CHECK(file.shape("half") == detail::Shape{});
    CHECK(values_of(file.load("depth").as<Cpu, std::int32_t>()) == std::vector<double>{0, 65535});
    CHECK(values_of(file.load<float>("depth")) == std::vector<double>{0, 65535});
    CHECK(values_of(file.load("half").as<Cpu, half>()) == std::vector<double>{1.5});
    CHECK(error_of([&] { file.load("names"); }) == "npy: '" + path + ":names': its element type is not supported: <U1");
    CHECK(error_of([&] { file.load<float>("names"); }) ==
          "npy: '" + path + ":names': its element type is not supported: <U1");
    CHECK(error_of([&] { file.load<std::uint8_t>("depth"); }) ==
          "npy: '" + path + ":depth': 65535 at position 1 does not fit into uint8");
    CHECK(error_of([&] { file.load("width"); }) == "npz: '" + path + "': has no array 'width'");
    CHECK(error_of([&] { io::load_npz(path); }) == "npy: '" + path + ":names': its element type is not supported: <U1");
  }
  CHECK(seen == 2);
}

TEST_CASE("an array is loaded from an archive whose other bytes are damaged") {
  const TemporaryFolder folder;
  io::save_npz(folder / "a.npz", {{"x", spread_tensor<Cpu>({3, 4})}, {"y", zeros<Cpu>({2})}});
  std::string bytes = content_of(folder / "a.npz");
  const std::size_t elements = bytes.find("x.npy") + 5 + 128;
  bytes[elements] = char(bytes[elements] ^ 1);
  const io::Npz file(folder.put("b.npz", bytes));
  CHECK(file.shape("x") == detail::Shape{3, 4});
  CHECK(file.load<float>("y").numel() == 2);
  CHECK_THAT(error_of([&] { file.load("x"); }), ContainsSubstring("an entry's checksum does not match"));
}

TEST_CASE("what a Mac's archiver adds is no array") {
  const TemporaryFolder folder;
  io::save_npz(folder / "a.npz", {{"x", zeros<Cpu>({2})}, {"__MACOSX/._x", zeros<Cpu>({3})}});
  CHECK(io::Npz(folder / "a.npz").names() == std::vector<std::string>{"x"});
  CHECK(io::load_npz(folder / "a.npz").size() == 1);
}

TEST_CASE("what is written is read back") {
  const TemporaryFolder folder;
  const auto x = spread_tensor<Cpu>({3, 4});
  io::save_npz(folder / "a.npz", {{"x", x.t()}, {"layer.weight", zeros<Cpu>({0, 2})}});
  const StateDict arrays = io::load_npz(folder / "a.npz");
  REQUIRE(arrays.size() == 2);
  CHECK(values_of(arrays[0].tensor.as<Cpu, double>()) == values_of(x.t()));
  CHECK(arrays[1].name == "layer.weight");
  CHECK(arrays[1].tensor.shape() == detail::Shape{0, 2});
  io::save_npz(folder / "none.npz", {});
  CHECK(io::load_npz(folder / "none.npz").empty());
  CHECK(folder.file_count() == 2);
}

TEST_CASE("damaged archives are refused, and name the file") {
  const TemporaryFolder folder;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("archive")) continue;
    const std::string whole = bytes_of(recorded["archive"]);
    for (std::size_t n = 0; n < whole.size(); n += 7) {
      const std::string path = folder.put("a.npz", whole.substr(0, n));
      CHECK_THAT(error_of([&] { io::load_npz(path); }), ContainsSubstring("npz: ") && ContainsSubstring(path));
    }
    for (std::size_t i = 0; i < whole.size(); i += 3) {
      std::string changed = whole;
      changed[i] = char(changed[i] ^ 0x5a);
      const std::string path = folder.put("a.npz", changed);
      const std::string error = error_of([&] { io::load_npz(path); });  // a date or a flag may be another
      if (!error.empty()) CHECK_THAT(error, ContainsSubstring("np"));
    }
  }
}

TEST_CASE("archives that numpy refuses are refused") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("numpy_refusals")) {
    if (!recorded.contains("npz")) continue;
    INFO(recorded["name"]);
    ++seen;
    const std::string path = folder.put("a.npz", bytes_of(recorded["npz"]));
    StateDict arrays;
    const std::string error = error_of([&] { arrays = io::load_npz(path); });
    if (recorded["refused"].is_null()) CHECK(arrays.size() == 2);
    else CHECK_THAT(error, ContainsSubstring("npz: '" + path + "': "));
  }
  CHECK(seen == 9);
}

namespace {

/// A number of n bytes of the archive, lowest first.
std::size_t number_at(const std::string& bytes, std::size_t at, int n) {
  std::size_t value = 0;
  for (int i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + std::size_t(i)]);
  return value;
}
void set_number(std::string& bytes, std::size_t at, int n, std::size_t value) {
  for (int i = 0; i < n; ++i) bytes[at + std::size_t(i)] = char(value >> (8 * i) & 255);
}

}  // namespace

TEST_CASE("names that occur twice, shared bytes and wrong counts are refused") {
  const TemporaryFolder folder;
  const auto x = spread_tensor<Cpu>({3, 4});
  CHECK(error_of([&] { io::save_npz(folder / "a.npz", {{"x", x}, {"y", x}, {"x", x}}); }) ==
        "save_npz: '" + (folder / "a.npz") + "': 'x' occurs twice");
  io::save_npz(folder / "a.npz", {{"x", x}, {"y", x}});
  const std::string whole = content_of(folder / "a.npz");
  const std::size_t end = whole.size() - 22, directory = number_at(whole, end + 16, 4),
                    length = number_at(whole, end + 12, 4);
  const auto refusal = [&](const std::string& archive) {
    const std::string path = folder.put("b.npz", archive), start = "npz: '" + path + "': ";
    const std::string error = error_of([&] { io::load_npz(path); });
    return error.starts_with(start) ? error.substr(start.size()) : error;
  };
  REQUIRE(refusal(whole) == "");

  std::string twice = whole;
  for (std::size_t at = twice.find("y.npy"); at != std::string::npos; at = twice.find("y.npy")) twice[at] = 'x';
  CHECK(refusal(twice) == "names 'x.npy' twice");

  for (const std::size_t field : {8, 10})
    for (const std::size_t count : {1, 3}) {
      std::string miscounted = whole;
      set_number(miscounted, end + field, 2, count);
      CHECK_THAT(refusal(miscounted), ContainsSubstring("does not"));
    }

  // The second entry's record points to the first one's bytes.
  std::string shared = whole;
  const std::size_t second = directory + length / 2;
  set_number(shared, second + 42, 4, 0);
  CHECK(refusal(shared) == "two entries share bytes");
  // An entry that reaches over the next one.
  std::string overlapping = whole;
  for (const std::size_t field : {20, 24}) set_number(overlapping, directory + field, 4, directory - 50);
  CHECK(refusal(overlapping) == "two entries share bytes");
}

TEST_CASE("arrays may not be larger than allowed") {
  const TemporaryFolder folder;
  io::save_npz(folder / "a.npz", {{"x", zeros<Cpu>({1000})}, {"y", zeros<Cpu>({1000})}});
  CHECK(io::load_npz(folder / "a.npz", 2 * 4128).size() == 2);
  CHECK(error_of([&] { io::load_npz(folder / "a.npz", 2 * 4128 - 1); }) ==
        "npz: '" + (folder / "a.npz") + "': its arrays are larger than allowed: more than 8255 bytes");
  CHECK(io::Npz(folder / "a.npz", 4128).load("y").numel() == 1000);
  CHECK(error_of([&] { io::Npz(folder / "a.npz", 4127).load("y"); }) ==
        "npz: '" + (folder / "a.npz") + ":y': is larger than allowed: more than 4127 bytes");
}

}  // namespace io_npz
