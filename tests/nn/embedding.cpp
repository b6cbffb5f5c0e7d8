#include "recorded_module.hpp"

#include <tern/nn/embedding.hpp>

namespace nn_embedding {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {
template <class D>
Tensor<D, Index> numbers(const std::vector<double>& values, const tern::detail::Shape& shape) {
  return tensor_of<D, Index>(values, shape);
}
}  // namespace

TEMPLATE_TEST_CASE("Embedding and EmbeddingBag have PyTorch's names, shapes and initial values", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_recorded_module("Embedding(50, 20)", nn::Embedding<D>(50, 20));
  check_recorded_module("EmbeddingBag(50, 20)", nn::EmbeddingBag<D>(50, 20));
  const nn::Embedding<D> padded(5, 3, {.padding_idx = 2});  // recorded: row 2 is zero, row 1 is not
  CHECK(values_of(padded.weight.detach().select(0, 2)) == std::vector<double>(3, 0));
  for (const double v : values_of(padded.weight.detach().select(0, 1))) CHECK(v != 0);
  const nn::Embedding<D> last(5, 3, {.padding_idx = -1});
  CHECK(last.padding_idx == 4);
  CHECK(values_of(last.weight.detach().select(0, 4)) == std::vector<double>(3, 0));
  CHECK(!nn::Embedding<D>(5, 3).padding_idx);
  const nn::EmbeddingBag<D> bag(5, 3, {.padding_idx = 2});
  CHECK(values_of(bag.weight.detach().select(0, 2)) == std::vector<double>(3, 0));
}

TEMPLATE_TEST_CASE("Embedding takes rows of its table; the padding row is not trained", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const StateDict table{{"weight", tensor_of<D>({1, 2, 3, 4, 5, 6}, {3, 2})}};
  nn::Embedding<D, double> net(3, 2, {.padding_idx = 1});
  net.load_state_dict(table);
  const auto y = net(numbers<D>({2, 1, 2, 0}, {2, 2}));
  CHECK(y.shape() == tern::detail::Shape{2, 2, 2});
  CHECK(values_of(y) == std::vector<double>{5, 6, 3, 4, 5, 6, 1, 2});
  sum(y).backward();
  CHECK(values_of(net.weight.grad()) == std::vector<double>{1, 1, 0, 0, 2, 2});
  CHECK(net.to(f32).padding_idx == 1);
}

TEMPLATE_TEST_CASE("Embedding takes a table that is there, frozen unless the program says otherwise", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto table = spread_tensor<D, float>({5, 3});
  const auto frozen = nn::Embedding<D>::from_pretrained(table);
  CHECK((frozen.num_embeddings == 5 && frozen.embedding_dim == 3 && !frozen.weight.requires_grad()));
  auto trained = nn::Embedding<D>::from_pretrained(table, {.freeze = false, .padding_idx = -1});
  const auto rows = to_device(tensor<Cpu, Index>({1, 4}), table.device());
  check_close(values_of(trained(rows)), values_of(table.index_select(0, rows)));
  trained(rows).sum().backward();
  check_close(values_of(trained.weight.grad()), {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(error_of([&] { nn::Embedding<D>::from_pretrained(table[0]); }) ==
        "from_pretrained: the table must be [num_embeddings, embedding_dim], not [3]");
}

TEMPLATE_TEST_CASE("EmbeddingBag reduces rows of each bag", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const StateDict table{{"weight", tensor_of<D>({1, 2, 3, 4, 5, 6}, {3, 2})}};
  const auto x = numbers<D>({0, 2, 1, 1}, {2, 2});
  nn::EmbeddingBag<D, double> mean(3, 2, {.mode = "mean"}), total(3, 2, {.mode = "sum"}),
      largest(3, 2, {.mode = "max"});
  mean.load_state_dict(table);
  total.load_state_dict(table);
  largest.load_state_dict(table);
  CHECK(values_of(mean(x)) == std::vector<double>{3, 4, 3, 4});
  CHECK(values_of(total(x)) == std::vector<double>{6, 8, 6, 8});
  CHECK(values_of(largest(x)) == std::vector<double>{5, 6, 3, 4});
  CHECK(values_of(total(numbers<D>({0, 1, 2}, {3}), numbers<D>({0, 1}, {2}))) == std::vector<double>{1, 2, 8, 10});
  sum(mean(x)).backward();
  CHECK(values_of(mean.weight.grad()) == std::vector<double>{0.5, 0.5, 1, 1, 0.5, 0.5});
  auto copy = largest.to(f32);
  CHECK(copy.options.mode == BagMode::max);
  CHECK(values_of(copy(x)) == std::vector<double>{5, 6, 3, 4});
}

TEMPLATE_TEST_CASE("EmbeddingBag scales rows by per_sample_weights, and takes a table that is there", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto table = tensor_of<D, float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const auto total = nn::EmbeddingBag<D>::from_pretrained(table, {.mode = "sum"});
  CHECK((total.num_embeddings == 3 && total.embedding_dim == 2 && !total.weight.requires_grad()));
  const auto x = numbers<D>({0, 1, 2}, {3}), starts = numbers<D>({0, 1}, {2});
  CHECK(values_of(total(x, starts, tensor_of<D, float>({10, 1, 2}, {3}))) == std::vector<double>{10, 20, 13, 16});
  CHECK(values_of(total(x.reshape({1, 3}), {}, tensor_of<D, float>({1, 0, 2}, {1, 3}))) == std::vector<double>{11, 14});
  const auto mean =
      nn::EmbeddingBag<D>::from_pretrained(table, {.freeze = false, .include_last_offset = true, .padding_idx = -1});
  CHECK(mean.weight.requires_grad());
  CHECK(values_of(mean(x, numbers<D>({0, 2, 3}, {3}))) == std::vector<double>{2, 3, 0, 0});
  CHECK(error_of([&] { mean(x, numbers<D>({0, 3}, {2}), ones<D>({3})); }) ==
        "embedding_bag: per_sample_weights need mode sum");
  CHECK_THAT(error_of([&] { nn::EmbeddingBag<D>::from_pretrained(table[0]); }),
             ContainsSubstring("from_pretrained: the table must be [num_embeddings, embedding_dim], not [2]"));
}

TEMPLATE_TEST_CASE("Embedding refuses sizes and numbers out of range", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { nn::Embedding<D>(0, 2); }), ContainsSubstring("Embedding: sizes must be positive"));
  CHECK_THAT(error_of([] { nn::EmbeddingBag<D>(2, -1); }), ContainsSubstring("sizes must be positive"));
  CHECK_THAT(error_of([] { nn::Embedding<D>(4, 2, {.padding_idx = 4}); }),
             ContainsSubstring("padding_idx 4 is not one of 4 rows"));
  CHECK_THAT(error_of([] { nn::Embedding<D>(4, 2, {.padding_idx = -5}); }),
             ContainsSubstring("padding_idx -5 is not one of 4 rows"));
  nn::Embedding<D> net(4, 2);
  const std::string end = " is out of range for a dimension of size 4";
  CHECK(error_of([&] { net(numbers<D>({4}, {1})); }) == "embedding: index 4" + end);
  CHECK(error_of([&] { net(numbers<D>({-1}, {1})); }) == "embedding: index -1" + end);
}

TEMPLATE_TEST_CASE("the third positional argument of Embedding is padding_idx", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Embedding<D> first(4, 2, 0), last(4, 2, -1), none(4, 2, {});
  CHECK(first.padding_idx == 0);
  CHECK(last.padding_idx == 3);
  CHECK_FALSE(none.padding_idx);
  CHECK(values_of(first.weight[0]) == std::vector<double>{0, 0});
}

}  // namespace nn_embedding
