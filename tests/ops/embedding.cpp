// Rows of a table by number, against loops over rows.
#include "tern/ops/embedding.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_embedding {
using namespace tern;
using namespace tern_test;

namespace {

using Values = std::vector<double>;
constexpr Index rows = 5, columns = 3;

template <class D>
Tensor<D, Index> numbers(const Values& values) {
  return tensor_of<D, Index>(values);
}

/// Eleven numbers in four bags; the third is empty, the last holds row 1 alone.
const Values flat{0, 3, 3, 1, 4, 2, 0, 0, 2, 1, 1};
const Values starts{0, 4, 9, 9};

/// The padding that an option is given; without a value there is none.
using Padding = std::optional<Index>;

/// Each bag of these, reduced row by row; weights that are not given are ones.
Values naive_bags(const Values& table, BagMode mode, Padding padding, Values weights) {
  weights.resize(flat.size(), 1);
  Values y;
  for (std::size_t bag = 0; bag < starts.size(); ++bag) {
    const std::size_t first = std::size_t(starts[bag]);
    const std::size_t last = bag + 1 < starts.size() ? std::size_t(starts[bag + 1]) : flat.size();
    for (Index c = 0; c < columns; ++c) {
      double sum = 0, largest = -INFINITY;
      int count = 0;
      for (std::size_t k = first; k < last; ++k) {
        if (padding && Index(flat[k]) == (*padding + rows) % rows) continue;
        const double value = table[std::size_t(Index(flat[k]) * columns + c)];
        sum += weights[k] * value, largest = std::max(largest, value), ++count;
      }
      y.push_back(count == 0 ? 0 : mode == BagMode::max ? largest : mode == BagMode::mean ? sum / count : sum);
    }
  }
  return y;
}

template <class D>
Tensor<D, double> table() {
  return spread_tensor<D>({rows, columns});
}
const BagMode all_modes[] = {BagMode::sum, BagMode::mean, BagMode::max};

}  // namespace

TEMPLATE_TEST_CASE("embedding takes rows for numbers of any shape and layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Values x{4, 0, 2, 2, 1, 4};
  for (const detail::Shape& shape : {detail::Shape{6}, detail::Shape{2, 3}, detail::Shape{1, 3, 2}}) {
    for (const auto& weight : layouts(table<D>())) {
      const Values elements = values_of(weight);
      Values expected;
      for (double row : x)
        for (Index c = 0; c < columns; ++c) expected.push_back(elements[std::size_t(Index(row) * columns + c)]);
      for (const auto& index : layouts(tensor_of<D, Index>(x, shape))) {
        const auto y = embedding(index, weight);
        detail::Shape to = shape;
        to.push_back(columns);
        CHECK(y.shape() == to);
        check_close(values_of(y), expected);
      }
    }
  }
  CHECK(embedding(numbers<D>({}), table<D>()).shape() == detail::Shape{0, columns});
  CHECK(embedding(tensor_of<D, Index>({3}, {}), table<D>()).shape() == detail::Shape{columns});
  const auto narrow = embedding(numbers<D>({1, 1}), table<D>().to(bf16));
  check_close(values_of(narrow.select(0, 0)), values_of(table<D>().to(bf16).select(0, 1)));
}

TEMPLATE_TEST_CASE("gradients of embedding; the padding row gets none", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = table<D>().requires_grad_();
  const auto x = tensor_of<D, Index>({4, 0, 4, 2}, {2, 2});
  const auto f = [&](const auto& v) { return embedding(x, v * v); };
  CHECK(gradcheck(f, std::tuple{w}));
  CHECK(gradgradcheck(f, std::tuple{w}));
  const Values from_first{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0},
      every{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2};
  const auto gradient = [&](Padding padding) { return values_of(tern::grad(sum(embedding(x, w, padding)), w)); };
  check_close(gradient(4), from_first);
  check_close(gradient(-1), from_first);  // as in PyTorch, the last row
  check_close(gradient(-4), every);
  check_close(gradient({}), every);
}

TEMPLATE_TEST_CASE("embedding_bag: every mode, with and without padding, by offsets and by a matrix", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = numbers<D>(flat), offsets = numbers<D>(starts);
  Values with_end = starts;
  with_end.push_back(double(flat.size()));
  for (BagMode mode : all_modes) {
    for (const Padding padding : {Padding(), Padding(0), Padding(1), Padding(-1), Padding(-4)}) {
      // Without row 1, which is row -4, the last bag is empty too.
      const Values expected = naive_bags(values_of(table<D>()), mode, padding, {});
      EmbeddingBagOptions options{.mode = mode, .padding_idx = padding};
      for (const auto& weight : layouts(table<D>()))
        for (const auto& index : layouts(x))
          check_close(values_of(embedding_bag(index, weight, offsets, options)), expected);
      options.include_last_offset = true;
      check_close(values_of(embedding_bag(x, table<D>(), numbers<D>(with_end), options)), expected);
    }
    const auto matrix = tensor_of<D, Index>({0, 3, 3, 1, 4, 2, 0, 0}, {2, 4});
    const auto by_matrix = embedding_bag(matrix, table<D>(), {.mode = mode});
    check_close(values_of(by_matrix),
                values_of(embedding_bag(matrix.reshape({8}), table<D>(), numbers<D>({0, 4}), {.mode = mode})));
    // The last offset may stand before the end: what follows belongs to no bag.
    const EmbeddingBagOptions last{.mode = mode, .include_last_offset = true};
    const auto first_two = embedding_bag(x, table<D>(), numbers<D>({0, 4, 9}), last);
    CHECK(first_two.shape() == detail::Shape{2, columns});
    const Values all = naive_bags(values_of(table<D>()), mode, {}, {});
    check_close(values_of(first_two), Values(all.begin(), all.begin() + 2 * columns));
  }
  CHECK(embedding_bag(numbers<D>({}), table<D>(), numbers<D>({})).shape() == detail::Shape{0, columns});
  check_close(values_of(embedding_bag(numbers<D>({}), table<D>(), numbers<D>({0, 0}))), Values(2 * columns, 0));
}

TEMPLATE_TEST_CASE("per_sample_weights scale the rows of a sum, learned or not", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = numbers<D>(flat), offsets = numbers<D>(starts);
  const auto scale = spread_tensor<D>({Index(flat.size())}, -1, 2);
  for (const Padding padding : {Padding(), Padding(3), Padding(-2)}) {
    const EmbeddingBagOptions options{.mode = BagMode::sum, .padding_idx = padding};
    const Values expected = naive_bags(values_of(table<D>()), BagMode::sum, padding, values_of(scale));
    check_close(values_of(embedding_bag(x, table<D>(), offsets, options, scale)), expected);
    const auto learned = scale.clone().requires_grad_();
    check_close(values_of(embedding_bag(x, table<D>(), offsets, options, learned)), expected);
  }
  const auto matrix = tensor_of<D, Index>({0, 3, 1, 2}, {2, 2});
  const auto pairs = tensor_of<D>({1, 2, -1, 0.5}, {2, 2});
  check_close(values_of(embedding_bag(matrix, table<D>(), Tensor<D, Index>(), {.mode = "sum"}, pairs)),
              values_of(pairs.reshape({2, 1, 2}).bmm(embedding(matrix, table<D>())).reshape({2, columns})));
}

TEMPLATE_TEST_CASE("gradients of embedding_bag", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = table<D>().requires_grad_(), scale = spread_tensor<D>({Index(flat.size())}, -1, 2).requires_grad_();
  const auto x = numbers<D>(flat), offsets = numbers<D>(starts);
  for (const Padding padding : {Padding(), Padding(3), Padding(-2)}) {
    for (BagMode mode : all_modes) {
      const auto f = [&](const auto& v) {
        return embedding_bag(x, v * v, offsets, {.mode = mode, .padding_idx = padding});
      };
      CHECK(gradcheck(f, std::tuple{w}));
      CHECK(gradgradcheck(f, std::tuple{w}));
    }
    const EmbeddingBagOptions options{.mode = BagMode::sum, .padding_idx = padding};
    const auto fixed = [&](const auto& v) { return embedding_bag(x, v * v, offsets, options, scale.detach()); };
    CHECK(gradcheck(fixed, std::tuple{w}));
    CHECK(gradgradcheck(fixed, std::tuple{w}));
    const auto learned = [&](const auto& v, const auto& s) { return embedding_bag(x, v * v, offsets, options, s * s); };
    CHECK(gradcheck(learned, std::tuple{w, scale}));
    CHECK(gradgradcheck(learned, std::tuple{w, scale}));
  }
}

TEMPLATE_TEST_CASE("embedding_bag in 16 bits rounds a bag's sum once", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // In bfloat16 itself 256 + 1 is 256.
  const auto y = embedding_bag(zeros<D, Index>({1, 1000}), ones<D, bfloat16>({1, 2}), {.mode = BagMode::sum});
  check_close(values_of(y), Values(2, double(bfloat16(1000.f))), 0, 0);
  const auto w = ones<D, bfloat16>({1, 2}).requires_grad_();
  sum(embedding_bag(zeros<D, Index>({1000, 1}), w, {.mode = BagMode::sum})).backward();
  check_close(values_of(w.grad()), Values(2, double(bfloat16(1000.f))), 0, 0);
}

TEMPLATE_TEST_CASE("embedding refuses numbers that are no rows, and tables that are none", "[ops][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = table<D>();
  const auto x = numbers<D>({0, 1});
  for (Index bad : {-1, 5}) {
    const std::string end = "index " + std::to_string(bad) + " is out of range for a dimension of size 5";
    CHECK(error_of([&] { embedding(numbers<D>({0, double(bad)}), w); }) == "embedding: " + end);
    CHECK(error_of([&] { embedding_bag(numbers<D>({double(bad)}), w, numbers<D>({0})); }) == "embedding_bag: " + end);
  }
  CHECK(error_of([&] { embedding(x, spread_tensor<D>({3})); }) == "embedding: the table must be a matrix, not [3]");
  CHECK(error_of([&] { embedding(x, w, 5); }) == "embedding: padding_idx 5 is not one of 5 rows");
  CHECK(error_of([&] { embedding(x, w, -6); }) == "embedding: padding_idx -6 is not one of 5 rows");
  CHECK(error_of([&] { embedding(Tensor<D, Index>(), w); }) == "embedding: a tensor is undefined");
  CHECK(error_of([&] { embedding(x, Tensor<D, double>()); }) == "embedding: a tensor is undefined");
}

TEMPLATE_TEST_CASE("embedding_bag refuses bags that are none", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = table<D>(), three = spread_tensor<D>({3});
  const auto x = numbers<D>({0, 1, 2}), matrix = tensor_of<D, Index>({0, 1, 2, 3}, {2, 2}), zero = numbers<D>({0});
  const auto refused = [&](const auto& f) {
    const std::string error = error_of(f), name = "embedding_bag: ";
    CHECK(error.substr(0, name.size()) == name);
    return error.substr(std::min(name.size(), error.size()));
  };
  const EmbeddingBagOptions sum_mode{.mode = "sum"};
  CHECK(refused([&] { embedding_bag(x, w); }) ==
        "a matrix of bags, or a vector with a vector of offsets, is needed, not [3]");
  CHECK(refused([&] { embedding_bag(matrix, w, zero); }) == "a matrix of bags takes no offsets");
  CHECK(refused([&] { embedding_bag(x, w, numbers<D>({1, 2})); }) == "the first offset must be 0, not 1");
  CHECK(refused([&] { embedding_bag(x, w, numbers<D>({0, 2, 1})); }) ==
        "offsets must rise and stay within 3 numbers: 2, 1");
  CHECK(refused([&] { embedding_bag(x, w, numbers<D>({0, 4})); }) ==
        "offsets must rise and stay within 3 numbers: 0, 4");
  CHECK(refused([&] { embedding_bag(x, w, numbers<D>({}), {.include_last_offset = true}); }) ==
        "include_last_offset needs at least one offset");
  CHECK(refused([&] { embedding_bag(x, w, zero, {}, three); }) == "per_sample_weights need mode sum");
  CHECK(refused([&] { embedding_bag(x, w, zero, sum_mode, spread_tensor<D>({2})); }) ==
        "per_sample_weights of shape [2] do not fit an input of shape [3]");
  CHECK(refused([&] { embedding_bag(x, three, zero); }) == "the table must be a matrix, not [3]");
  CHECK(refused([&] { embedding_bag(x, w, zero, {.padding_idx = 5}); }) == "padding_idx 5 is not one of 5 rows");
  CHECK(refused([&] { embedding_bag(x, w, zero, {.padding_idx = -6}); }) == "padding_idx -6 is not one of 5 rows");
  CHECK(refused([&] { embedding_bag(Tensor<D, Index>(), w); }) == "a tensor is undefined");
  CHECK(refused([&] { embedding_bag(x, Tensor<D, double>(), zero); }) == "a tensor is undefined");
}

}  // namespace ops_embedding
