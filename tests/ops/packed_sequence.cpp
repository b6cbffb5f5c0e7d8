#include "tern/ops/packed_sequence.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_packed_sequence {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("pack_padded_sequence has the order of torch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // The example of torch's documentation of pad_packed_sequence.
  const auto x = tensor_of<D>({1, 2, 0, 3, 0, 0, 4, 5, 6}, {3, 3});
  const auto packed = pack_padded_sequence(x, {2, 1, 3}, {.batch_first = true, .enforce_sorted = false});
  CHECK(values_of(packed.data) == std::vector<double>{4, 1, 3, 5, 2, 6});
  CHECK(packed.batch_sizes == std::vector<Index>{3, 2, 1});
  CHECK(values_of(packed.sorted_indices) == std::vector<double>{2, 0, 1});
  CHECK(values_of(packed.unsorted_indices) == std::vector<double>{1, 2, 0});
  const auto [padded, lengths] = pad_packed_sequence(packed, {.batch_first = true});
  CHECK(values_of(padded) == values_of(x));
  CHECK(lengths == std::vector<Index>{2, 1, 3});
}

TEMPLATE_TEST_CASE("lengths may be a tensor, and a strided one", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 0, 3, 0, 0, 4, 5, 6}, {3, 3});
  const auto lengths = tensor<Cpu, Index>({{2, 0}, {1, 0}, {3, 0}});
  const auto packed = pack_padded_sequence(x, lengths.select(1, 0), {.batch_first = true, .enforce_sorted = false});
  CHECK(values_of(packed.data) == std::vector<double>{4, 1, 3, 5, 2, 6});
  CHECK(packed.batch_sizes == std::vector<Index>{3, 2, 1});
  CHECK_THAT(error_of([&] { pack_padded_sequence(x, lengths); }),
             ContainsSubstring("pack_padded_sequence: lengths have one dimension, not shape [3, 2]"));
  CHECK_THAT(error_of([&] { pack_padded_sequence(x, Tensor<Cpu, Index>()); }),
             ContainsSubstring("pack_padded_sequence"));
}

TEMPLATE_TEST_CASE("padding a packed sequence fills it to a length with a value", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 2, 2}, 1, 2);
  const auto packed = pack_padded_sequence(x, {3, 1});
  CHECK(!packed.sorted_indices.defined());
  const auto [padded, lengths] = pad_packed_sequence(packed, {.padding_value = -7, .total_length = 4});
  const auto v = values_of(x);
  CHECK(values_of(padded) ==
        std::vector<double>{v[0], v[1], v[2], v[3], v[4], v[5], -7, -7, v[8], v[9], -7, -7, -7, -7, -7, -7});
  CHECK(lengths == std::vector<Index>{3, 1});
  CHECK(values_of(packed.to(f32).data) == values_of(packed.data.to(f32)));
}

TEMPLATE_TEST_CASE("sequences are padded and packed as torch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // The example of torch's documentation of pack_sequence.
  const std::vector sequences{tensor_of<D>({1, 2, 3}, {3}), tensor_of<D>({4, 5}, {2}), tensor_of<D>({6}, {1})};
  const auto packed = pack_sequence(sequences);
  CHECK(values_of(packed.data) == std::vector<double>{1, 4, 6, 2, 5, 3});
  CHECK(packed.batch_sizes == std::vector<Index>{3, 2, 1});
  CHECK(values_of(pad_sequence(sequences)) == std::vector<double>{1, 4, 6, 2, 5, 0, 3, 0, 0});
  const auto padded = pad_sequence(sequences, {.batch_first = true, .padding_value = -1, .total_length = 4});
  CHECK(padded.shape() == detail::Shape{3, 4});
  CHECK(values_of(padded) == std::vector<double>{1, 2, 3, -1, 4, 5, -1, -1, 6, -1, -1, -1});
  const std::vector unsorted{sequences[2], sequences[0]};
  CHECK(values_of(pack_sequence(unsorted, false).data) == std::vector<double>{1, 6, 2, 3});
  CHECK_THAT(error_of([&] { pack_sequence(unsorted); }),
             ContainsSubstring("sequence 1 is longer than the one before it, 3 than 1"));
  CHECK_THAT(error_of([&] { pad_sequence(sequences, {.total_length = 2}); }),
             ContainsSubstring("total_length 2 is less than the longest sequence, 3"));
  CHECK_THAT(error_of([&] { pad_sequence(std::vector<Tensor<D, double>>()); }),
             ContainsSubstring("pad_sequence: there is no sequence"));
}

TEMPLATE_TEST_CASE("packing and padding have gradients", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({3, 4, 2});
  const std::vector<Index> lengths{1, 3, 2, 3};
  CHECK(gradcheck(
      [&](const auto& v) {
        return pad_packed_sequence(pack_padded_sequence(v, lengths, {.enforce_sorted = false})).first;
      },
      std::tuple{x.requires_grad_()}));
  CHECK(gradcheck([](const auto& v) { return pad_sequence(std::vector{v[0], v[1].narrow(0, 0, 2)}); }, std::tuple{x}));
}

TEMPLATE_TEST_CASE("packing refuses lengths that do not fit", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D, double>({3, 2, 2});
  const auto error = [&](const std::vector<Index>& lengths) {
    return error_of([&] { pack_padded_sequence(x, lengths); });
  };
  CHECK_THAT(error({3}), ContainsSubstring("pack_padded_sequence: 1 lengths for 2 sequences"));
  CHECK_THAT(error({4, 1}), ContainsSubstring("pack_padded_sequence: length 4 of sequence 0 is not between 1 and 3"));
  CHECK_THAT(error({1, 0}), ContainsSubstring("pack_padded_sequence: length 0 of sequence 1 is not between 1 and 3"));
  CHECK_THAT(error({1, 2}), ContainsSubstring("pack_padded_sequence: sequence 1 is longer than the one before it, 2 "
                                              "than 1; sort them, or set enforce_sorted = false"));
  CHECK_THAT(error_of([&] { pack_padded_sequence(ones<D, double>({3}), {3}); }),
             ContainsSubstring("pack_padded_sequence: a padded batch has at least two dimensions, not shape [3]"));
  CHECK_THAT(error_of([&] { pad_packed_sequence(pack_padded_sequence(x, {3, 2}), {.total_length = 2}); }),
             ContainsSubstring("pad_packed_sequence: total_length 2 is less than the longest sequence, 3"));
}

TEMPLATE_TEST_CASE("the options of packing and padding are positional arguments too", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 2, 3}, {3}), b = tensor_of<D>({4, 5}, {2});
  const auto padded = pad_sequence({a, b}, true, -1);
  CHECK(padded.shape() == detail::Shape{2, 3});
  CHECK(values_of(padded) == std::vector<double>{1, 2, 3, 4, 5, -1});
  CHECK(values_of(pad_sequence(std::vector{a, b}, true)) == std::vector<double>{1, 2, 3, 4, 5, 0});
  CHECK(values_of(pad_sequence({a, b}, false, 0.5)) == std::vector<double>{1, 4, 2, 5, 3, 0.5});
  const auto packed = pack_padded_sequence(padded, {3, 2}, true);
  CHECK(values_of(packed.data) == std::vector<double>{1, 4, 2, 5, 3});
  CHECK(!packed.sorted_indices.defined());
  const auto unsorted = pack_padded_sequence(padded, tensor<Cpu, Index>({2, 3}), true, false);
  CHECK(values_of(unsorted.data) == std::vector<double>{4, 1, 5, 2, -1});
  CHECK(values_of(pack_padded_sequence(padded, {2, 3}, true, false).data) == values_of(unsorted.data));
  const auto [back, lengths] = pad_packed_sequence(packed, true, 0.5, 4);
  CHECK(back.shape() == detail::Shape{2, 4});
  CHECK(values_of(back) == std::vector<double>{1, 2, 3, 0.5, 4, 5, 0.5, 0.5});
  CHECK(values_of(pad_packed_sequence(unsorted, true).first) == std::vector<double>{1, 2, 0, 4, 5, -1});
  CHECK_THAT(error_of([&] { pack_padded_sequence(padded, {2, 3}, true); }), ContainsSubstring("set enforce_sorted"));
}

TEMPLATE_TEST_CASE("sequences stand in braces", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({3, 2}), b = spread_tensor<D>({2, 2});
  check_close(values_of(pad_sequence({a, b})), values_of(pad_sequence(std::vector{a, b})));
  check_close(values_of(pack_sequence({a, b}).data), values_of(pack_sequence(std::vector{a, b}).data));
}

TEMPLATE_TEST_CASE("unpad_sequence and unpack_sequence return the sequences", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  namespace rnn = nn::utils::rnn;
  const std::vector sequences{spread_tensor<D>({1, 2}), spread_tensor<D>({3, 2}, 4, 5), spread_tensor<D>({2, 2})};
  const auto check = [&](const auto& back) {
    REQUIRE(back.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(back[i].shape() == sequences[i].shape());
      CHECK(values_of(back[i]) == values_of(sequences[i]));
    }
  };
  check(rnn::unpad_sequence(pad_sequence(sequences), {1, 3, 2}));
  check(rnn::unpad_sequence(pad_sequence(sequences, true), tensor<Cpu, Index>({1, 3, 2}), true));
  check(rnn::unpack_sequence(pack_sequence(sequences, false)));
  const auto padded = pad_sequence(sequences);
  CHECK(error_of([&] { unpad_sequence(padded, {1, 3}); }) == "unpad_sequence: 2 lengths for 3 sequences");
  CHECK_THAT(error_of([&] { unpad_sequence(padded, {1, 4, 2}); }), ContainsSubstring("unpad_sequence: "));
  TERN_TEST_LINE(unpad_sequence(padded, {1, 4, 2}));
}

}  // namespace ops_packed_sequence
