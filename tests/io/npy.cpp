// .npy files: numpy's own, read; ours, as numpy would write them; and what is refused.
#include "recorded_bytes.hpp"
#include "temporary_folder.hpp"

#include <tern/io/npy.hpp>

namespace io_npy {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<double> host_values(const AnyTensor& x) {
  std::vector<double> values;
  const auto add = [&]<class T>(detail::Type<T>) {
    if (x.is<Cpu, T>()) values = values_of(x.as<Cpu, T>());
  };
  add(f32), add(f64), add(f16), add(i64), add(i32), add(detail::Type<std::uint8_t>{}), add(detail::Type<bool>{});
  return values;
}

}  // namespace

TEST_CASE("numpy's arrays are read, and written as numpy writes them") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("values")) continue;
    INFO(recorded["name"]);
    ++seen;
    const std::string bytes = bytes_of(recorded["file"]), path = folder.put("a.npy", bytes);
    const AnyTensor x = io::load_npy(path);
    CHECK(host_values(x) == recorded["values"].get<std::vector<double>>());
    const auto sizes = recorded["shape"].get<std::vector<Index>>();
    CHECK(x.shape() == detail::Shape(sizes.data(), int(sizes.size())));
    if (recorded.contains("read_as"))
      CHECK(std::string(detail::name_of(x.dtype())) == recorded["read_as"].get<std::string>());
    if (recorded["name"].get<std::string>().find("by columns") != std::string::npos || recorded.contains("read_as"))
      continue;
    io::save_npy(folder / "b.npy", x);
    CHECK(content_of(folder / "b.npy") == bytes);
  }
  CHECK(seen == 27);
}

TEST_CASE("an array is read as the type that the caller names") {
  const TemporaryFolder folder;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("values")) continue;
    INFO(recorded["name"]);
    const std::string path = folder.put("a.npy", bytes_of(recorded["file"]));
    CHECK(values_of(io::load_npy<double>(path)) == recorded["values"].get<std::vector<double>>());
    const auto sizes = recorded["shape"].get<std::vector<Index>>();
    CHECK(io::load_npy<double>(path).shape() == detail::Shape(sizes.data(), int(sizes.size())));
  }
  const std::string path = folder.put("a.npy", bytes_of(recorded_cases("numpy_files")[1]["file"]));  // 0 … 5
  CHECK(values_of(io::load_npy<std::uint8_t>(path)) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(error_of([&] { io::load_npy<bool>(path); }) == "npy: '" + path + "': 2 at position 2 does not fit into bool");
}

TEST_CASE("a view is written as its elements read") {
  const TemporaryFolder folder;
  const auto x = spread_tensor<Cpu>({3, 4});
  io::save_npy(folder / "a.npy", x.t().slice(0, {0, 4, 2}));
  CHECK(host_values(io::load_npy(folder / "a.npy")) == values_of(x.t().slice(0, {0, 4, 2})));
  CHECK(folder.file_count() == 1);
}

TEST_CASE("what is no array of these types is refused, and names the file") {
  const TemporaryFolder folder;
  int refused = 0;
  for (const Json& recorded : recorded_cases("numpy_files")) {
    if (!recorded.contains("refused")) continue;
    ++refused;
    const std::string path = folder.put("a.npy", bytes_of(recorded["file"]));
    CHECK_THAT(error_of([&] { io::load_npy(path); }),
               ContainsSubstring("its element type is not supported: " + recorded["refused"].get<std::string>()) &&
                   ContainsSubstring(path));
  }
  CHECK(refused == 3);
  CHECK_THAT(error_of([&] { io::save_npy(folder / "b.npy", zeros<Cpu, bfloat16>({2})); }),
             ContainsSubstring("save_npy: numpy has no type for bfloat16"));
  CHECK_THAT(error_of([&] { io::save_npy(folder / "b.npy", AnyTensor()); }),
             ContainsSubstring("save_npy: the tensor is undefined"));
  CHECK_THAT(error_of([&] { io::load_npy(folder / "missing"); }), ContainsSubstring("missing"));
}

TEST_CASE("every truncated file is refused, and none with a byte changed is read past its end") {
  const TemporaryFolder folder;
  const std::string whole = bytes_of(recorded_cases("numpy_files")[0]["file"]);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string path = folder.put("a.npy", whole.substr(0, n));
    CHECK_THAT(error_of([&] { io::load_npy(path); }), ContainsSubstring("npy: "));
  }
  for (std::size_t i = 0; i < 128; ++i) {
    for (const char other : {'\0', '9', '\xff', ')', '\''}) {
      std::string changed = whole;
      changed[i] = other;
      const std::string path = folder.put("a.npy", changed);
      const std::string error = error_of([&] { io::load_npy(path); });
      if (!error.empty()) CHECK_THAT(error, ContainsSubstring("npy: "));
    }
  }
  CHECK_THAT(error_of([&] { io::load_npy(folder.put("a.npy", whole + "x")); }),
             ContainsSubstring("its size does not match its shape and type"));
  std::string booleans = bytes_of(recorded_cases("numpy_files")[6]["file"]);
  booleans.back() = 2;
  CHECK_THAT(error_of([&] { io::load_npy(folder.put("a.npy", booleans)); }),
             ContainsSubstring("a bool is the byte 2 at position 1"));
}

TEST_CASE("headers that numpy refuses are refused, and those that it reads are read") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("numpy_refusals")) {
    if (!recorded.contains("npy")) continue;
    INFO(recorded["name"]);
    ++seen;
    const std::string path = folder.put("a.npy", bytes_of(recorded["npy"]));
    std::vector<double> values;
    const std::string error = error_of([&] { values = host_values(io::load_npy(path)); });
    if (recorded["refused"].is_null()) CHECK(values == std::vector<double>(3, 0));
    else CHECK_THAT(error, ContainsSubstring("npy: '" + path + "': "));
  }
  CHECK(seen == 31);
  // numpy's limit on a header is 10,000 bytes.
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }";
  for (const std::size_t length : {std::size_t(10'000), std::size_t(10'001)}) {
    const std::string start = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(length & 255), char(length >> 8)};
    const std::string path = folder.put("a.npy", start + header + std::string(length - header.size(), ' '));
    CHECK(error_of([&] { io::load_npy(path); }).empty() == (length == 10'000));
  }
}

}  // namespace io_npy
