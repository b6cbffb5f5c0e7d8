// Copies are held against a loop over all indices.
#include <tern/backend/copy.hpp>

#include <cstring>
#include <vector>

#include "support/catch.hpp"
#include "support/devices.hpp"

namespace backend_copy {
using namespace tern;

namespace {

struct Side {
  detail::Shape dims, strides;
};

/// A buffer for `side`, with a margin that no copy may touch.
std::vector<unsigned char> buffer_for(const Side& side, int bytes, unsigned char fill) {
  Index extent = 1;
  for (int i = 0; i < side.dims.n; ++i) extent += std::max<Index>(side.dims[i] - 1, 0) * side.strides[i];
  return std::vector<unsigned char>(std::size_t((extent + 16) * bytes), fill);
}

detail::Array array_over(std::vector<unsigned char>& data, const Side& side, DType dtype) {
  detail::Array a{};
  a.data = reinterpret_cast<char*>(data.data());
  a.dtype = dtype;
  a.ndim = std::uint8_t(side.dims.n);
  a.numel = side.dims.numel();
  for (int i = 0; i < side.dims.n; ++i) a.dims[i] = side.dims[i], a.strides[i] = side.strides[i];
  detail::update_contiguous(a);
  return a;
}

detail::Shape dense_strides(const detail::Shape& dims) {
  detail::Shape strides = dims;
  Index stride = 1;
  for (int i = dims.n; i-- > 0;) strides[i] = stride, stride *= dims[i];
  return strides;
}

template <class D>
void check(const Side& out, const Side& in) {
  for (const DType dtype : {DType::uint8, DType::float16, DType::int32, DType::float64}) {
    const int bytes = detail::size_of(dtype);
    std::vector<unsigned char> source = buffer_for(in, bytes, 0), target = buffer_for(out, bytes, 0xee);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 7 + i / 251);
    std::vector<unsigned char> expected = target;
    for (Index i = 0; i < out.dims.numel(); ++i) {
      Index to = 0, from = 0, rest = i;
      for (int k = out.dims.n; k-- > 0; rest /= out.dims[k]) {
        const Index at = rest % out.dims[k];
        to += at * out.strides[k];
        const int j = k - (out.dims.n - in.dims.n);
        if (j >= 0 && in.dims[j] != 1) from += at * in.strides[j];
      }
      std::memcpy(&expected[std::size_t(to * bytes)], &source[std::size_t(from * bytes)], std::size_t(bytes));
    }
    detail::backend::run<D>(detail::backend::Copy{array_over(target, out, dtype), array_over(source, in, dtype)});
    INFO(detail::text({"to ", out.dims, " with strides ", out.strides, " from ", in.dims, " with strides ", in.strides,
                       ", ", bytes, " bytes"}));
    REQUIRE((target == expected));
  }
}

constexpr Index sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 70, 257};

}  // namespace

TEMPLATE_TEST_CASE("a matrix is copied and transposed", "[copy]", TERN_TEST_HOST_DEVICES) {
  for (const Index m : sizes) {
    for (const Index n : sizes) {
      const detail::Shape dims{m, n};
      check<TestType>({dims, {n, 1}}, {dims, {n, 1}});
      check<TestType>({dims, {n, 1}}, {dims, {1, m}});
      check<TestType>({dims, {1, m}}, {dims, {n, 1}});
      check<TestType>({dims, {n + 3, 1}}, {dims, {1, m + 5}});
      check<TestType>({dims, {2 * n + 1, 2}}, {dims, {3, 3 * m}});
    }
  }
}

TEMPLATE_TEST_CASE("a copy stretches its source", "[copy]", TERN_TEST_HOST_DEVICES) {
  for (const Index m : {1, 2, 3, 17, 70}) {
    for (const Index n : {1, 2, 5, 33, 300}) {
      check<TestType>({{m, n}, {n, 1}}, {{m, n}, {1, 0}});
      check<TestType>({{m, n}, {n, 1}}, {{m, n}, {0, 1}});
      check<TestType>({{m, n}, {n, 1}}, {{n}, {1}});
      check<TestType>({{m, n}, {1, m}}, {{m, 1}, {1, 1}});
      check<TestType>({{m, n}, {n, 1}}, {{}, {}});
      check<TestType>({{2, m, n}, {m * n, n, 1}}, {{2, 1, n}, {n, n, 1}});
    }
  }
}

TEMPLATE_TEST_CASE("dimensions may lie in any order on both sides", "[copy]", TERN_TEST_HOST_DEVICES) {
  const detail::Shape dims{3, 17, 5, 18}, dense = dense_strides(dims);
  int order[] = {0, 1, 2, 3};
  do {
    detail::Shape permuted_dims = dims, strides = dims;
    for (int i = 0; i < 4; ++i) permuted_dims[i] = dims[order[i]];
    const detail::Shape of_permuted = dense_strides(permuted_dims);
    for (int i = 0; i < 4; ++i) strides[order[i]] = of_permuted[i];
    check<TestType>({dims, dense}, {dims, strides});
    check<TestType>({dims, strides}, {dims, dense});
  } while (std::next_permutation(order, order + 4));
}

TEMPLATE_TEST_CASE("eight dimensions and a 0-d array are copied", "[copy]", TERN_TEST_HOST_DEVICES) {
  const detail::Shape dims{2, 3, 2, 1, 3, 2, 2, 3};
  detail::Shape reversed = dims, strides = dims;
  for (int i = 0; i < 8; ++i) reversed[i] = dims[7 - i];
  const detail::Shape dense = dense_strides(reversed);
  for (int i = 0; i < 8; ++i) strides[i] = dense[7 - i];
  check<TestType>({dims, dense_strides(dims)}, {dims, strides});
  check<TestType>({{}, {}}, {{}, {}});
}

TEMPLATE_TEST_CASE("a copy large enough for several threads", "[copy]", TERN_TEST_HOST_DEVICES) {
  check<TestType>({{700, 900}, {900, 1}}, {{700, 900}, {1, 700}});
  check<TestType>({{700, 900}, {900, 1}}, {{700, 900}, {901, 1}});
  check<TestType>({{3, 300000}, {300000, 1}}, {{3, 300000}, {1, 0}});
}

TEMPLATE_TEST_CASE("a transposed copy too large for the caches, with rows of whole packets and not", "[copy]",
                   TERN_TEST_HOST_DEVICES) {
  for (const Index columns : {1504, 1500})
    check<TestType>({{1501, columns}, {columns, 1}}, {{1501, columns}, {1, 1501}});
  check<TestType>({{3, 701, 1008}, {701 * 1008, 1008, 1}}, {{3, 701, 1008}, {701 * 1008, 1, 701}});
  check<TestType>({{1501, 1500}, {1504, 1}}, {{1501, 1500}, {1, 1501}});
}

}  // namespace backend_copy
