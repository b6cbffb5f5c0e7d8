#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/group_norm.hpp"

namespace ops_group_norm {
using namespace tern;
using namespace tern_test;

namespace {

/// The elements of [N, C, ...] normalised in groups, by the formula.
std::vector<double> grouped(const std::vector<double>& x, std::size_t n, std::size_t channels, std::size_t groups) {
  const std::size_t width = x.size() / n / groups, places = x.size() / n / channels;
  std::vector<double> y;
  for (std::size_t first = 0; first < x.size(); first += width) {
    double mean = 0, squares = 0;
    for (std::size_t i = first; i < first + width; ++i) mean += x[i] / double(width);
    for (std::size_t i = first; i < first + width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    for (std::size_t i = first; i < first + width; ++i) {
      const double c = double(i / places % channels);
      y.push_back((x[i] - mean) / std::sqrt(squares / double(width) + 0.1) * (c + 1) - c);
    }
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("group_norm and instance_norm by their formula in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  std::vector<double> factors, offsets;
  for (int c = 0; c < 6; ++c) factors.push_back(c + 1), offsets.push_back(-c);
  const auto w = tensor_of<D>(factors), b = tensor_of<D>(offsets);
  for (const detail::Shape& shape : std::vector<detail::Shape>{{3, 6, 5, 4}, {2, 6, 7}, {2, 6, 2, 3, 2}})
    for (const auto& x : layouts(spread_tensor<D>(shape))) {
      const std::vector<double> values = values_of(x);
      const auto y = group_norm(x, 3, w, b, 0.1);
      CHECK(y.is_contiguous(channels_last));
      check_close(values_of(y), grouped(values, std::size_t(shape[0]), 6, 3));
      check_close(values_of(instance_norm(x, {}, {}, w, b, true, 0.1, 0.1)),
                  grouped(values, std::size_t(shape[0]), 6, 6));
    }
  check_close(values_of(group_norm(spread_tensor<D>({4, 6}), 2, w, b, 0.1)), grouped(spread_values(24), 4, 6, 2));
}

TEMPLATE_TEST_CASE("instance_norm's running statistics follow the average of the samples'", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D, float>({1, 3, 2, 6, 5, 9, 0, 4}, {2, 2, 2});
  const auto mean = zeros<D>({2}), var = ones<D>({2});
  instance_norm(x, mean, var, {}, {}, true, 0.5);
  check_close(values_of(mean), {0.5 * 4.5, 0.5 * 3}, 1e-6);
  check_close(values_of(var), {0.5 + 0.5 * 5, 0.5 + 0.5 * 8}, 1e-6);
  check_close(values_of(instance_norm(x, mean, var, {}, {}, false)), values_of(batch_norm(x, mean, var)));
}

TEMPLATE_TEST_CASE("gradients of group_norm and instance_norm", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4, 3}).requires_grad_(), w = spread_tensor<D>({4}, 0.5, 2).requires_grad_(),
             b = spread_tensor<D>({4}).requires_grad_();
  const auto check = [](const auto& f, const auto& at) {
    CHECK(gradcheck(f, at));
    CHECK(gradgradcheck(f, at));
  };
  check([](const auto& v, const auto& s, const auto& c) { return group_norm(v, 2, s, c, 1e-2); }, std::tuple{x, w, b});
  check([](const auto& v, const auto& s, const auto& c) { return instance_norm(v, {}, {}, s, c, true, 0.1, 1e-2); },
        std::tuple{x, w, b});
  check([](const auto& v) { return group_norm(v, 4); }, std::tuple{x});
}

TEMPLATE_TEST_CASE("group_norm of bfloat16 calculates in float", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, bfloat16>({2, 4, 9});
  check_close(values_of(group_norm(x, 2)), values_of(group_norm(x.to(f32), 2)), 4e-3, 4e-3);
}

TEMPLATE_TEST_CASE("group_norm and instance_norm refuse", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 6, 4});
  CHECK(error_of([&] { group_norm(x, 4); }) ==
        "group_norm: num_groups must divide the 6 channels of [2, 6, 4], not be 4");
  CHECK(error_of([&] { group_norm(x, 0); }) ==
        "group_norm: num_groups must divide the 6 channels of [2, 6, 4], not be 0");
  CHECK(error_of([&] { group_norm(zeros<D>({1, 6, 0}), 2); }) ==
        "group_norm: more than one value is needed for each of 2 groups, which [1, 6, 0] does not have");
  CHECK(
      error_of([&] { group_norm(x, 2, zeros<D>({3})); }) ==
      "group_norm: weight, bias and running statistics must be of shape [6] for an input of shape [2, 6, 4], not [3]");
  CHECK(error_of([&] { instance_norm(zeros<D>({2, 6, 1})); }) ==
        "instance_norm: more than one value is needed in each channel, which [2, 6, 1] does not have");
  CHECK(error_of([&] { instance_norm(x, {}, {}, {}, {}, false); }) ==
        "instance_norm: without training it needs running_mean and running_var");
  CHECK(group_norm(zeros<D>({0, 6, 4}), 2).shape() == detail::Shape{0, 6, 4});
  CHECK(instance_norm(zeros<D>({0, 6, 4})).shape() == detail::Shape{0, 6, 4});
}

}  // namespace ops_group_norm
