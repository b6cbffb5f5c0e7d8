// .npz archives: numpy's own, ours, and damaged ones.
#include "recorded_bytes.hpp"
#include "temporary_folder.hpp"

#include <tern/io/npz.hpp>

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
    CHECK(arrays[1].tensor.shape() == Shape{2, 2});
    CHECK(values_of(arrays[2].tensor.as<Cpu, double>()) == std::vector<double>(500, 0));
  }
  CHECK(seen == 2);
}

TEST_CASE("what is written is read back") {
  const TemporaryFolder folder;
  const auto x = spread_tensor<Cpu>({3, 4});
  io::save_npz(folder / "a.npz", {{"x", x.t()}, {"layer.weight", zeros<Cpu>({0, 2})}});
  const StateDict arrays = io::load_npz(folder / "a.npz");
  REQUIRE(arrays.size() == 2);
  CHECK(values_of(arrays[0].tensor.as<Cpu, double>()) == values_of(x.t()));
  CHECK(arrays[1].name == "layer.weight");
  CHECK(arrays[1].tensor.shape() == Shape{0, 2});
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
