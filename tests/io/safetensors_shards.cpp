#include "tern/io/safetensors_shards.hpp"
#include "support/tensors.hpp"
#include "temporary_folder.hpp"

namespace io_safetensors_shards {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("tensors in shards are loaded by their index", "[io]") {
  const TemporaryFolder folder;
  io::save_safetensors(folder / "a.safetensors", {{"x", tensor_of<Cpu>({1, 2})}, {"spare", tensor_of<Cpu>({0})}});
  io::save_safetensors(folder / "b.safetensors", {{"y", tensor_of<Cpu>({3})}});
  const auto index = [&](const std::string& map) {
    return folder.put("model.safetensors.index.json",
                      R"({"metadata": {"total_size": 24, "more": [1.5, -2e3, {"a": null}, true]}, )" + map + "}");
  };
  const StateDict dict =
      io::load_safetensors_shards(index(R"("weight_map": {"y": "b.safetensors", "x": "a.safetensors"})"));
  REQUIRE(dict.size() == 2);
  CHECK(dict[0].name == "y");
  CHECK(values_of(dict[0].tensor.as<Cpu, double>()) == std::vector<double>{3});
  CHECK(values_of(dict[1].tensor.as<Cpu, double>()) == std::vector<double>{1, 2});
  const auto error = [&](const std::string& map) { return error_of([&] { io::load_safetensors_shards(index(map)); }); };
  CHECK_THAT(error(R"("weight_map": {"y": "a.safetensors"})"), ContainsSubstring("'a.safetensors' has no tensor 'y'"));
  CHECK_THAT(error(R"("weight_map": {"y": "../b.safetensors"})"),
             ContainsSubstring("'../b.safetensors' is no file's name"));
  CHECK_THAT(error(R"("weight_map": {"y": "c.safetensors"})"), ContainsSubstring("c.safetensors"));
  CHECK_THAT(error(R"("other": 1)"), ContainsSubstring("it has no weight_map"));
  CHECK_THAT(error(R"("weight_map": {"y": 3})"), ContainsSubstring("is not a valid index: '\"' is missing"));
  CHECK_THAT(error(R"("weight_map": {"y": "b.safetensors")"),
             ContainsSubstring("is not a valid index: '}' is missing"));
}

}  // namespace io_safetensors_shards
