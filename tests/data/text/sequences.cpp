#include "tern/data/text/sequences.hpp"
#include "support/tensors.hpp"
#include "tern/data/loader.hpp"

namespace data_text_sequences {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using data::Side;
using data::Tokens;
using Numbers = std::vector<double>;

TEST_CASE("sequences are padded and cut on either side") {
  const std::vector<Tokens> two{{1, 2, 3}, {4}};
  CHECK(values_of(data::pad_sequences(two)) == Numbers{1, 2, 3, 4, 0, 0});
  CHECK(values_of(data::pad_sequences(
            two, {.length = 2, .padding_value = 9, .padding_side = "left", .truncation_side = "left"})) ==
        Numbers{2, 3, 9, 4});
  CHECK(values_of(data::pad_sequences(two, {.length = 2})) == Numbers{1, 2, 4, 0});
  CHECK(data::pad_sequences({}).shape() == detail::Shape{0, 0});
  CHECK_THAT(error_of([&] { data::pad_sequences(two, {.length = -1}); }),
             ContainsSubstring("pad_sequences: length must not be negative, but is -1"));
}

TEST_CASE("a long text goes through a network in parts beside each other") {
  Tokens tokens;
  for (Index i = 0; i < 14; ++i) tokens.push_back(i);
  Numbers x, y;
  std::vector<Index> steps;
  for (auto& [in, target] : data::loader<Cpu>(data::batchify(tokens, 3), {.batch_size = 3})) {
    steps.push_back(in.size(0));
    for (const double v : values_of(in)) x.push_back(v);
    for (const double v : values_of(target)) y.push_back(v);
  }
  CHECK(steps == std::vector<Index>{3, 1});
  CHECK(x == Numbers{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(y == Numbers{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12});
  CHECK_THAT(error_of([&] { data::batchify({1, 2, 3}, 3); }),
             ContainsSubstring("batchify: 3 tokens are too few for 3 parts"));
}

TEST_CASE("windows of a text have the tokens that follow") {
  const Tokens tokens{0, 1, 2, 3, 4, 5, 6};
  const data::TextWindows ends(tokens, {.length = 3, .stride = 2}),
      all(tokens, {.length = 3, .stride = 3, .all_targets = true});
  CHECK(ends.size() == 2);
  const std::vector<Index> both{1, 0};
  const auto [x, y] = ends.batch(both);
  CHECK(values_of(x) == Numbers{2, 3, 4, 0, 1, 2});
  CHECK(values_of(y) == Numbers{5, 3});
  CHECK(all.size() == 2);
  const auto [u, v] = all.batch(both);
  CHECK(values_of(u) == Numbers{3, 4, 5, 0, 1, 2});
  CHECK(values_of(v) == Numbers{4, 5, 6, 1, 2, 3});
  CHECK(v.shape() == detail::Shape{2, 3});
  CHECK_THAT(error_of([&] { data::TextWindows(tokens, {.length = 7}); }),
             ContainsSubstring("TextWindows: 7 tokens have no window of 7 with a target"));
}

TEST_CASE("labelled sequences are padded batch by batch") {
  const data::LabelledSequences set({{1}, {2, 3, 4}, {5, 6}}, {0, 1, 0}, {.padding_side = Side::left});
  const std::vector<Index> some{2, 0}, one{1};
  const auto [x, y] = set.batch(some);
  CHECK(values_of(x) == Numbers{5, 6, 0, 1});
  CHECK(values_of(y) == Numbers{0, 0});
  CHECK(std::get<0>(set.batch(one)).shape() == detail::Shape{1, 3});
  CHECK(set.lengths() == std::vector<Index>{1, 3, 2});
  CHECK_THAT(error_of([] { data::LabelledSequences({{1}}, {}); }),
             ContainsSubstring("LabelledSequences: 1 sequences have 0 labels"));
}

}  // namespace data_text_sequences
