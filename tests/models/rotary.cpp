#include "tern/models/rotary.hpp"
#include "reference.hpp"

using namespace tern;
using namespace tern_test;

namespace {

using D = ModelDevice;

/// The angles by which a table turns at position 1, where all are below a half-circle.
std::vector<double> angles(Index size, double theta, const models::RopeScaling& scaling) {
  const auto table = models::rotary_table<double>(zeros<D>({1}), 1, 1, size, theta, scaling);
  const auto cosines = values_of(table.select(0, 0)), sines = values_of(table.select(0, 1));
  std::vector<double> found;
  for (std::size_t i = 0; i < std::size_t(size / 2); ++i) found.push_back(std::atan2(sines[i], cosines[i]));
  return found;
}

}  // namespace

TEST_CASE("the scores of turned queries and keys depend on the distance alone", "[models]") {
  const auto q = spread_tensor<D, double>({1, 1, 8}), k = spread_tensor<D, double>({1, 1, 8}, -1, 3);
  const auto score = [&](Index query, Index key) {
    const auto turned = [](const auto& x, Index at) {
      return models::rotary_embedding(x, models::rotary_table<double>(x, at, 1, 8, 10000));
    };
    return values_of(sum(turned(q, query) * turned(k, key)))[0];
  };
  CHECK(close(score(5, 3), score(105, 103), 1e-12, 1e-12));
  CHECK_FALSE(close(score(5, 3), score(5, 4), 1e-3, 1e-3));
}

TEST_CASE("long waves are scaled as in Llama 3.1", "[models]") {
  const models::RopeScaling scaling{.rope_type = "llama3", .factor = 8};
  const auto found = angles(128, 500000, scaling);
  int kept = 0, between = 0, divided = 0;
  for (int i = 0; i < 64; ++i) {
    double turn = std::pow(500000.0, -2 * i / 128.0);
    const double wave = 2 * std::numbers::pi / turn, longest = 8192 / scaling.low_freq_factor,
                 shortest = 8192 / scaling.high_freq_factor;
    if (wave > longest) {
      turn /= 8, ++divided;
    } else if (wave >= shortest) {
      const double smooth =
          (8192 / wave - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
      turn = (1 - smooth) * turn / 8 + smooth * turn, ++between;
    } else {
      ++kept;
    }
    CHECK(close(found[std::size_t(i)], turn, 1e-12, 0));
  }
  CHECK((kept > 0 && between > 0 && divided > 0));
}

TEST_CASE("linear scaling divides all angles, YaRN's makes the attention sharper", "[models]") {
  const auto plain = angles(16, 10000, {}), linear = angles(16, 10000, {.rope_type = "linear", .factor = 4});
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(close(linear[i], plain[i] / 4, 1e-12, 0));
  const auto length = [](const models::RopeScaling& scaling) {
    const auto table = models::rotary_table<double>(zeros<D>({1}), 3, 1, 16, 10000, scaling);
    return values_of(sqrt(sum(square(table), 0)))[0];
  };
  CHECK(close(length({.rope_type = "yarn", .factor = 4}), 0.1 * std::log(4.0) + 1, 1e-12, 0));
  CHECK(close(length({.rope_type = models::RopeType::yarn, .factor = 4, .attention_factor = 1.5}), 1.5, 1e-12, 0));
}
