#include "tern/profile/machine.hpp"

#include <algorithm>
#include <filesystem>

#include "../io/temporary_folder.hpp"
#include "emulated_time.hpp"
#include "support/tensors.hpp"

namespace profile_machine {
using namespace tern;
using namespace tern_test;
using profile::Curve;

TEST_CASE("the device's curves are those of the emulated machine", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  profile::Machine machine;
  profile::measure(machine, {.matmul = {32, 128},
                             .elementwise = {1 << 10, 1 << 13},
                             .copies = {1 << 10, 1 << 13},
                             .convolution = {2, 4},
                             .longest = 1e9});
  // In ns: 1000 and 12 bytes an element at 100 bytes a ns; 600 and the bytes at 10 (both to the device: `.cuda()`
  // stages), 2, or 8.
  REQUIRE(machine.cuda_elementwise.points.size() == 7);
  CHECK(machine.cuda_elementwise.points[0].size == 1024);
  CHECK(machine.cuda_elementwise.points[1].size == 1536);
  CHECK(machine.cuda_elementwise.at(1024) == exactly(1123e-9));
  CHECK(machine.cuda_elementwise.at(8192) == exactly(1984e-9));
  CHECK(machine.copies[0][0].at(1024) == exactly(703e-9));
  CHECK(machine.copies[0][1].at(8192) == exactly(1420e-9));
  CHECK(machine.copies[1][0].at(8192) == exactly(4696e-9));
  CHECK(machine.copies[1][1].at(8192) == exactly(1624e-9));
  // 2 * 32^3 operations at 1000 a ns are less than 12 * 32^2 bytes at 100; 2 * 128^3 are more.
  REQUIRE(machine.cuda_matmul.points.size() == 5);
  CHECK(machine.cuda_matmul.points[0].seconds == exactly(1123e-9));
  CHECK(machine.cuda_matmul.points[4].size == 2. * 128 * 128 * 128);
  CHECK(machine.cuda_matmul.points[4].seconds == exactly(5195e-9));
  CHECK(machine.cpu_matmul.points.size() == 5);
  CHECK(machine.cpu_elementwise.at(1024) > 0);
}

TEST_CASE("a curve has three points however long they take, and what opens libraries does not count", "[cuda]") {
  NEED_EMULATOR();
  profile::Machine machine;
  for (int i = 0; i < 20 && machine.cuda_matmul.points.size() < 7; ++i) {  // other programs may have the processor
    cuda::empty_cache();
    const Emulating cold("cold=1", "cold=0");
    profile::measure(
        machine,
        {.matmul = {8, 64}, .elementwise = {64, 1024}, .copies = {64, 1024}, .convolution = {2, 4}, .longest = 0.3});
  }
  CHECK(machine.cuda_matmul.points.size() == 7);  // none of them takes 0.3 s, but opening cuBLASLt does
  profile::measure(
      machine,
      {.matmul = {8, 64}, .elementwise = {64, 1024}, .copies = {64, 1024}, .convolution = {2, 4}, .longest = 0});
  for (const Curve* curve : {&machine.cpu_matmul, &machine.cpu_elementwise, &machine.cuda_matmul,
                             &machine.cuda_elementwise, &machine.copies[1][1]})
    CHECK(curve->points.size() == 3);
}

TEST_CASE("a machine's curves are measured once and kept by what they belong to") {
  const TemporaryFolder folder;
  const std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  const profile::MeasureOptions little{
      .matmul = {8, 16}, .elementwise = {16, 32}, .copies = {16, 32}, .convolution = {2, 4}, .longest = 1e9};
  const profile::Machine first = profile::machine(false, little);
  CHECK(first.cpu_matmul.points.size() == 3);
  const profile::Machine kept = profile::machine(false, little);
  const auto same = [](const Curve& a, const Curve& b) {
    return std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(),
                      [](auto& x, auto& y) { return x.size == y.size && x.seconds == y.seconds; });
  };
  CHECK(same(first.cpu_matmul, kept.cpu_matmul));  // to the last bit: not measured again
  CHECK(same(first.cpu_elementwise, kept.cpu_elementwise));
  CHECK(same(first.copies[1][0], kept.copies[1][0]));
  CHECK(first.cpu == kept.cpu);
  const profile::Machine again = profile::machine(true, little);
  CHECK_FALSE((same(first.cpu_matmul, again.cpu_matmul) && same(first.cpu_elementwise, again.cpu_elementwise)));

  std::string path;
  for (const auto& file : std::filesystem::directory_iterator(folder / "cache/tern"))
    if (file.path().filename().string().starts_with("placement-")) path = file.path();
  REQUIRE(!path.empty());
  const std::string whole = content_of(path);
  const std::size_t curves = whole.find("\n3 ") + 1;  // the first curve, of three points, gets one
  const std::string fewer = whole.substr(0, curves) + "1 1024 0.001" + whole.substr(whole.find('\n', curves));
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), std::string("tern placement 2\n"), whole + "1", fewer, std::string()}) {
    std::ofstream(path, std::ios::binary) << damaged;
    CHECK(profile::machine(false, little).cpu_matmul.points.size() == 3);
    CHECK(content_of(path) != damaged);
  }
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  CHECK(profile::machine(false, little).cpu_matmul.points.size() == 3);
  setenv("XDG_CACHE_HOME", before.c_str(), 1);
}

}  // namespace profile_machine
