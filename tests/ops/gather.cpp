// Reading and adding by number, against loops over the elements.
#include "support/sixteen_bits.hpp"
#include "tern/ops/gather.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_gather {
using namespace tern;
using namespace tern_test;

namespace {

using Values = std::vector<double>;

template <class D>
Tensor<D, Index> numbers(const Values& values, const detail::Shape& shape) {
  return tensor_of<D, Index>(values, shape);
}

/// The position in a tensor of a shape of element i of `index`, whose number stands for its place along dim.
std::size_t place_of(Index i, const detail::Shape& shape, int dim, const detail::Shape& index_shape,
                     const Values& index) {
  Index at[detail::max_dims], position = 0;
  for (int d = index_shape.n, rest = int(i); d-- > 0; rest /= int(index_shape[d])) at[d] = rest % index_shape[d];
  at[dim] = Index(index[std::size_t(i)]);
  for (int d = 0; d < shape.n; ++d) position = position * shape[d] + at[d];
  return std::size_t(position);
}

Values naive_gather(const Values& x, const detail::Shape& shape, int dim, const Values& index,
                    const detail::Shape& index_shape) {
  Values y;
  for (Index i = 0; i < index_shape.numel(); ++i) y.push_back(x[place_of(i, shape, dim, index_shape, index)]);
  return y;
}

Values naive_scatter_add(Values x, const detail::Shape& shape, int dim, const Values& index,
                         const detail::Shape& index_shape, const Values& source) {
  for (Index i = 0; i < index_shape.numel(); ++i)
    x[place_of(i, shape, dim, index_shape, index)] += source[std::size_t(i)];
  return x;
}

/// Numbers below `size` for each element of a shape, with repetitions.
Values drawn(const detail::Shape& shape, Index size) {
  Values values;
  for (Index i = 0; i < shape.numel(); ++i) values.push_back(double((i * 7 + 3 * (i / 4)) % size));
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("gather and scatter_add along every dimension, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const detail::Shape shape{3, 4, 5};
  const auto x = spread_tensor<D>(shape);
  for (int dim = 0; dim < 3; ++dim) {
    for (const detail::Shape& to :
         {detail::Shape{3, 4, 5}, detail::Shape{2, 3, 4}, detail::Shape{1, 1, 1}, detail::Shape{3, 0, 5}}) {
      detail::Shape longer = to;
      longer[dim] *= 3;  // along dim the index may have any size
      const Values index = drawn(longer, shape[dim]);
      const auto at = numbers<D>(index, longer);
      const auto source = spread_tensor<D, double>(longer, -5, 7).clone();
      for (const auto& layout : layouts(x)) {
        for (const auto& at_layout : layouts(at))
          check_close(values_of(gather(layout, dim, at_layout)), naive_gather(values_of(x), shape, dim, index, longer));
        for (const auto& added : layouts(source))
          check_close(values_of(scatter_add(layout, dim - 3, at, added)),
                      naive_scatter_add(values_of(x), shape, dim, index, longer, values_of(source)));
      }
    }
  }
  CHECK(gather(x, 1, numbers<D>({}, {3, 0, 5})).shape() == detail::Shape{3, 0, 5});
  const auto wide = spread_tensor<D>({3, 4});  // of a larger source, the part that the index covers is added
  check_close(values_of(scatter_add(zeros<D, double>({3, 4}), 0, numbers<D>({2, 0}, {1, 2}), wide)),
              naive_scatter_add(Values(12), {3, 4}, 0, {2, 0}, {1, 2}, values_of(wide)));
}

TEMPLATE_TEST_CASE("index_select and index_add along every dimension, in any layout", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4, 5});
  for (int dim = 0; dim < 3; ++dim) {
    for (Index count : {0, 1, 7}) {
      detail::Shape to{3, 4, 5};
      to[dim] = count;
      const Values rows = drawn({count}, x.size(dim));
      const auto at = numbers<D>(rows, {count});
      // The same number for all elements of a position.
      Values index;
      for (Index i = 0; i < to.numel(); ++i) {
        Index rest = i;
        for (int d = 2; d > dim; --d) rest /= to[d];
        index.push_back(rows[std::size_t(rest % to[dim])]);
      }
      const auto source = spread_tensor<D>(to, -5, 7);
      for (const auto& layout : layouts(x)) {
        check_close(values_of(index_select(layout, dim - 3, at)),
                    naive_gather(values_of(x), x.shape(), dim, index, to));
        for (const auto& added : layouts(source))
          check_close(values_of(index_add(layout, dim, at, added)),
                      naive_scatter_add(values_of(x), x.shape(), dim, index, to, values_of(source)));
      }
      Values twice = values_of(source);
      for (double& v : twice) v *= 2;
      check_close(values_of(index_add(x, dim, at, source, 2)),
                  naive_scatter_add(values_of(x), x.shape(), dim, index, to, twice));
    }
  }
  const auto scalar = tensor_of<D>({4}, {});
  check_close(values_of(index_select(scalar, 0, numbers<D>({0}, {1}))), {4});
  check_close(values_of(index_add(scalar, 0, numbers<D>({0}, {1}), tensor_of<D>({2}, {}))), {6});
}

TEMPLATE_TEST_CASE("more rows than the caches hold, of whole packets and not", "[ops]", TERN_TEST_HOST_DEVICES) {
  using D = TestType;
  const Index rows = 3000, taken = 40000;
  for (const Index columns : {64, 60}) {
    const auto y = values_of(index_select(reshape(arange<D, float>(rows * columns), {rows, columns}), 0,
                                          arange<D, Index>(taken) * 7 % rows));
    Index wrong = 0;
    for (Index i = 0; i < taken * columns; ++i)
      wrong += y[std::size_t(i)] != double(i / columns * 7 % rows * columns + i % columns);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("rows of every element type are read and added", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type) {
    using T = typename decltype(type)::type;
    const auto x = tensor_of<D, T>({1, 2, 3, 4, 5, 6}, {3, 2});
    const auto at = numbers<D>({2, 0, 2}, {3});
    check_close(values_of(index_select(x, 0, at)), {5, 6, 1, 2, 5, 6});
    check_close(values_of(gather(x, 0, numbers<D>({2, 0}, {1, 2}))), {5, 2});
    check_close(values_of(index_add(x, 0, at, tensor_of<D, T>({1, 1, 2, 2, 3, 3}, {3, 2}))), {3, 4, 3, 4, 9, 10});
  };
  check(f64), check(f32), check(bf16), check(f16), check(i64), check(i32), check(u8);
  const auto flags = tensor_of<D, bool>({1, 0, 1}, {3});
  check_close(values_of(index_select(flags, 0, numbers<D>({1, 2}, {2}))), {0, 1});
}

TEMPLATE_TEST_CASE("a row that is added often is summed in float for 16-bit types", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // In bfloat16 itself 256 + 1 is 256.
  const auto total = index_add(zeros<D, bfloat16>({1}), 0, zeros<D, Index>({1000}), ones<D, bfloat16>({1000}));
  check_close(values_of(total), {double(bfloat16(1000.f))}, 0, 0);
}

TEMPLATE_TEST_CASE("gradients of reading and adding by number", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4}).requires_grad_(), source = spread_tensor<D>({2, 4}, 1, 2).requires_grad_();
  const auto rows = numbers<D>({2, 2}, {2}), at = numbers<D>({2, 0, 1, 2, 2, 2, 0, 0}, {2, 4});
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, source}));
    CHECK(gradgradcheck(f, std::tuple{x, source}));
  };
  check([&](const auto& a, const auto& b) { return gather(a * a, 0, at) * b; });
  check([&](const auto& a, const auto& b) { return scatter_add(a * a, 0, at, b * b); });
  check([&](const auto& a, const auto& b) { return index_select(a * a, 0, rows) * b; });
  check([&](const auto& a, const auto& b) { return index_add(a * a, 0, rows, b * b, 3); });
  const auto columns = numbers<D>({3, 0}, {2}), part = numbers<D>({1, 2}, {2, 1});
  check([&](const auto& a, const auto& b) { return index_select(a.t() * a.t(), -2, columns).narrow(1, 1, 1) * b; });
  check([&](const auto& a, const auto& b) { return scatter_add(a * a, 1, part, b * b); });  // part of the source only
}

TEMPLATE_TEST_CASE("adding by number in place writes into the tensor, its base and the tape", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto rows = numbers<D>({2, 0, 2}, {3}), at = numbers<D>({2, 0, 1, 2, 2, 2}, {2, 3});
  const auto check = [&](auto type) {
    using T = typename decltype(type)::type;
    const auto source = tensor_of<D, T>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3}), part = source.narrow(0, 0, 2);
    for (const auto& x : layouts(tensor_of<D, T>({1, 1, 2, 3, 5, 8, 13, 21, 34}, {3, 3}))) {
      const auto expected = values_of(index_add(x, 1, rows, source, 2));
      const auto version = x.version();
      CHECK(&x.index_add_(1, rows, source, 2) == &x);
      CHECK(values_of(x) == expected);
      CHECK(x.version() > version);
      const auto next = values_of(scatter_add(x, 0, at, part));
      CHECK(&x.scatter_add_(0, at, part) == &x);
      CHECK(values_of(x) == next);
      const auto doubled = values_of(index_add(x, 0, numbers<D>({1, 0, 2}, {3}), x.clone()));
      index_add_(x, 0, numbers<D>({1, 0, 2}, {3}), x);  // its own source
      CHECK(values_of(x) == doubled);
    }
  };
  check(f64), check(f32), check(bf16), check(f16), check(i64), check(i32), check(u8);
  const auto x = spread_tensor<D>({3, 3}).requires_grad_(), source = spread_tensor<D>({3, 3}, 1, 2).requires_grad_();
  const auto f = [&](const auto& a, const auto& b) {
    const auto y = a * a;
    y.index_add_(1, rows, b * b, 3).narrow(0, 0, 2).scatter_add_(1, at, b);
    return y * b;
  };
  CHECK(gradcheck(f, std::tuple{x, source}));
  CHECK(gradgradcheck(f, std::tuple{x, source}));
  CHECK(error_of([&] { index_add_(x, 0, rows, source); }).find("leaf") != std::string::npos);
  CHECK(error_of([&] { scatter_add_(x, 0, at, source); }).find("leaf") != std::string::npos);
  const auto bad = numbers<D>({3}, {1});
  CHECK(error_of([&] { values_of(zeros<D>({3}).index_add_(0, bad, ones<D>({1}))); }) ==
        "index_add_: index 3 is out of range for a dimension of size 3");
  CHECK(error_of([&] { values_of(zeros<D>({3}).scatter_add_(0, bad, ones<D>({1}))); }) ==
        "scatter_add_: index 3 is out of range for a dimension of size 3");
  CHECK(full<D>({}, 1).index_add_(0, zeros<D, Index>({1}), full<D>({}, 2)).item() == 3);
  CHECK(full<D>({}, 1).scatter_add_(0, zeros<D, Index>({}), full<D>({}, 2)).item() == 3);
}

TEMPLATE_TEST_CASE("gather and scatter_add by lines of any length", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  // Short lines are checked together, rows that are used up are fetched ahead, and threads share what is large.
  for (const detail::Shape& to :
       {detail::Shape{700, 3}, detail::Shape{3000, 1}, detail::Shape{5, 1030}, detail::Shape{40, 1024}}) {
    const detail::Shape shape{to[0], 1025};
    const Values index = drawn(to, 1025);
    const auto x = spread_tensor<D, float>(shape), source = spread_tensor<D, float>(to, -5, 7);
    CHECK(values_of(gather(x, 1, numbers<D>(index, to))) == naive_gather(values_of(x), shape, 1, index, to));
    check_close(values_of(scatter_add(x, 1, numbers<D>(index, to), source)),
                naive_scatter_add(values_of(x), shape, 1, index, to, values_of(source)), 1e-5, 1e-5);
    for (const Index bad : {Index(0), to.numel() - 1}) {
      Values outside = index;
      outside[std::size_t(bad)] = 1025;
      CHECK(error_of([&] { gather(x, 1, numbers<D>(outside, to)); }) ==
            "gather: index 1025 is out of range for a dimension of size 1025");
    }
  }
}

TEMPLATE_TEST_CASE("numbers do not count from the end here, and none may be too large", "[ops][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4});
  for (Index bad : {-1, 3}) {  // as PyTorch; x.index({...}) takes -1
    const auto row = full<D, Index>({1}, bad), element = full<D, Index>({1, 1}, bad);
    const std::string end = "index " + std::to_string(bad) + " is out of range for a dimension of size 3";
    CHECK(error_of([&] { index_select(x, 0, row); }) == "index_select: " + end);
    CHECK(error_of([&] { index_add(x, 0, row, ones<D, double>({1, 4})); }) == "index_add: " + end);
    CHECK(error_of([&] { gather(x, 0, element); }) == "gather: " + end);
    CHECK(error_of([&] { scatter_add(x, 0, element, x); }) == "scatter_add: " + end);
  }
}

TEMPLATE_TEST_CASE("reading and adding by number refuse shapes that do not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4});
  const auto row = zeros<D, Index>({1}), matrix = zeros<D, Index>({2, 5}), one = zeros<D, Index>({1, 1});
  CHECK(error_of([&] { index_select(x, 0, matrix); }) == "index_select: the index must be a vector, not [2, 5]");
  CHECK(error_of([&] { index_add(x, 0, matrix, x); }) == "index_add: the index must be a vector, not [2, 5]");
  CHECK(error_of([&] { index_add(x, 0, row, x); }) ==
        "index_add: a source of shape [3, 4] does not fit 1 positions of dimension 0 of [3, 4]");
  CHECK(error_of([&] { gather(x, 0, matrix); }) ==
        "gather: index of shape [2, 5] does not fit a tensor of shape [3, 4]");
  CHECK(error_of([&] { gather(x, 0, row); }) == "gather: index of shape [1] does not fit a tensor of shape [3, 4]");
  CHECK(error_of([&] { scatter_add(x, 0, matrix, x); }) ==
        "scatter_add: index of shape [2, 5] does not fit a tensor of shape [3, 4]");
  CHECK(error_of([&] { scatter_add(x, 0, zeros<D, Index>({2, 2}), ones<D, double>({1, 4})); }) ==
        "scatter_add: index of shape [2, 2] does not fit a tensor of shape [1, 4]");
  CHECK(error_of([&] { gather(x, 2, one); }) == "gather: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { index_select(x, 2, row); }) == "index_select: dimension 2 is out of range [-2, 1]");
  const Tensor<D, double> none;
  const Tensor<D, Index> no_index;
  CHECK(error_of([&] { gather(none, 0, one); }) == "gather: a tensor is undefined");
  CHECK(error_of([&] { gather(x, 0, no_index); }) == "gather: a tensor is undefined");
  CHECK(error_of([&] { scatter_add(x, 0, one, none); }) == "scatter_add: a tensor is undefined");
  CHECK(error_of([&] { index_add(x, 0, row, none); }) == "index_add: a tensor is undefined");
  CHECK(error_of([&] { index_select(x, 0, no_index); }) == "index_select: a tensor is undefined");
}

TEMPLATE_TEST_CASE("sums by index in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 2}, -1, 1), source = spread_tensor<D>({300, 2}, -1, 2);
  std::vector<double> rows;
  for (int i = 0; i < 300; ++i) rows.push_back(i % 3);
  const auto at = tensor_of<D, Index>(rows), wide = expand(unsqueeze(at, 1), {300, 2});
  check_rounded_once_in_16_bits([&](const auto& a, const auto& b) { return index_add(a, 0, at, b); }, x, source);
  check_rounded_once_in_16_bits([&](const auto& a, const auto& b) { return scatter_add(a, 0, wide, b); }, x, source);
  check_rounded_once_in_16_bits([&](const auto& a) { return gather(a, 0, wide); }, x);
}

}  // namespace ops_gather
