// Every product is held against a naive loop in double (integers: in wrapping arithmetic). Over 400 lines, because all
// cases share it.
#include <tern/backend/cpu/matmul/matmul.hpp>
#include <tern/core/random.hpp>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/dot.hpp"
#include "support/process.hpp"

namespace backend_matmul {
using namespace tern;
using detail::backend::MatMul;

namespace {

constexpr Index sizes[] = {0, 1, 2, 3, 15, 16, 17, 31, 33, 65, 100};

/// How a factor lies in memory.
enum class Layout { rows, columns, padded_rows, padded_columns, gaps, same_row, same_column };
constexpr Layout layouts[] = {Layout::rows, Layout::columns,  Layout::padded_rows, Layout::padded_columns,
                              Layout::gaps, Layout::same_row, Layout::same_column};

template <class T>
std::vector<T> make_numbers() {
  std::vector<T> numbers;
  for (std::uint64_t i = 0; i < 65537; ++i) {
    const detail::RandomWords words = detail::philox(7, 0, i);
    if constexpr (std::is_integral_v<T>) numbers.push_back(T(words.word[0] % 3 ? words.word[1] % 16 : words.word[2]));
    else numbers.push_back(T(2 * detail::unit_float(words.word[0]) - 1));
  }
  return numbers;
}

/// The i-th of a fixed sequence: in [-1, 1), or integers, a third of them so large that products wrap around.
template <class T>
T number(std::size_t i) {
  static const std::vector<T> numbers = make_numbers<T>();
  return numbers[i % numbers.size()];
}

/// A batch of matrices with these strides.
template <class T>
detail::Array matrices(const T* data, Index batch, Index rows, Index columns, Index batch_step, Index row,
                       Index column) {
  detail::Array a{};
  a.data = reinterpret_cast<char*>(const_cast<T*>(data));
  a.dtype = dtype_of<T>;
  a.ndim = 3, a.numel = batch * rows * columns;
  a.dims[0] = batch, a.dims[1] = rows, a.dims[2] = columns;
  a.strides[0] = batch_step, a.strides[1] = row, a.strides[2] = column;
  detail::update_contiguous(a);
  return a;
}

template <class T>
detail::Array matrix(const T* data, Index rows, Index columns, Index row, Index column) {
  detail::Array a = matrices(data, 1, rows, columns, 0, row, column);
  a.ndim = 2;
  std::copy_n(a.dims + 1, 2, a.dims);
  std::copy_n(a.strides + 1, 2, a.strides);
  return a;
}

template <class T>
detail::Array vector(const T* data, Index n) {
  detail::Array a = matrix(data, 1, n, n, 1);
  a.ndim = 1, a.dims[0] = n, a.strides[0] = 1;
  return a;
}

template <class T>
const T& element(const detail::Array& a, Index batch, Index i, Index j) {
  const Index step = a.ndim == 3 ? a.strides[0] : 0;
  return a.as<const T>()[batch * step + i * a.strides[a.ndim - 2] + j * a.strides[a.ndim - 1]];
}

/// What the naive loop calculates with.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// The rows of a matrix, or its columns, behind each other. The naive loop takes a third of the time over them.
template <class T>
std::vector<Wide<T>> rows_of(const T* data, Index rows, Index columns, Index row, Index column) {
  std::vector<Wide<T>> dense(std::size_t(rows * columns));
  Wide<T>* to = dense.data();
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) *to++ = Wide<T>(data[i * row + j * column]);
  return dense;
}

template <class T>
struct Operand {
  std::vector<T> data;
  detail::Array array;

  /// count: of a batch's matrices; 0 for one that the whole batch shares.
  Operand(Layout layout, Index count, Index rows, Index columns, std::size_t seed) {
    Index row = 0, column = 0;
    switch (layout) {
      case Layout::rows: row = columns, column = 1; break;
      case Layout::columns: row = 1, column = rows; break;
      case Layout::padded_rows: row = columns + 3, column = 1; break;
      case Layout::padded_columns: row = 1, column = rows + 5; break;
      case Layout::gaps: row = 2 * columns + 1, column = 2; break;
      case Layout::same_row: row = 0, column = 1; break;
      case Layout::same_column: row = 1, column = 0; break;
    }
    const Index step = rows * row + columns * column + 1;
    data.resize(std::size_t(step * std::max<Index>(count, 1) + 1));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = number<T>(seed + i);
    array = count ? matrices(data.data(), count, rows, columns, step, row, column)
                  : matrix(data.data(), rows, columns, row, column);
  }
};

/// The matrix products of a batch by their definition, and what rounding may make of them.
template <class T>
void check(const MatMul& p, const std::vector<T>& before) {
  const Index k = p.a.dims[p.a.ndim - 1];
  detail::Array old = p.c;
  old.data = reinterpret_cast<char*>(const_cast<T*>(before.data()));
  for (Index batch = 0; batch < p.c.dims[0]; ++batch) {
    const auto rows = rows_of(&element<T>(p.a, batch, 0, 0), p.a.dims[p.a.ndim - 2], k, p.a.strides[p.a.ndim - 2],
                              p.a.strides[p.a.ndim - 1]);
    const auto columns = rows_of(&element<T>(p.b, batch, 0, 0), p.b.dims[p.b.ndim - 1], k, p.b.strides[p.b.ndim - 1],
                                 p.b.strides[p.b.ndim - 2]);
    for (Index i = 0; i < p.c.dims[1]; ++i)
      for (Index j = 0; j < p.c.dims[2]; ++j) {
        const T got = element<T>(p.c, batch, i, j), held = element<T>(old, batch, i, j),
                shift = p.bias ? p.bias->as<T>()[j] : T(0);
        const Wide<T>*const a = rows.data() + i * k, *const b = columns.data() + j * k;
        if constexpr (std::is_integral_v<T>) {
          const std::uint64_t sum =
              (p.accumulate ? std::uint64_t(held) : 0) + std::uint64_t(shift) + tern_test::dot(a, b, k);
          if (got != T(sum))
            FAIL_CHECK("[" << batch << ", " << i << ", " << j << "] is " << +got << ", not " << +T(sum));
        } else {
          const double start = p.accumulate ? double(held) : 0, bias = double(shift);
          const tern_test::Dot terms = tern_test::dot(a, b, k);
          const double sum = start + bias + terms.sum, size = std::abs(start) + std::abs(bias) + terms.size;
          // Sums round at each term; the result rounds to T.
          const double term_error = (std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24) * double(k + 4) * size;
          const double unit = std::is_same_v<T, bfloat16> ? 0x1p-8 : std::is_same_v<T, half> ? 0x1p-11 : 0x1p-24;
          const double last = std::is_same_v<T, double> ? 0x1p-53 : unit;
          const double smallest = 1e-30 + last * 0x1p-14;  // half's subnormal numbers are this far apart
          const double allowed = 1.2 * term_error + 1.01 * last * std::abs(sum) + smallest;
          if (!(std::abs(double(got) - sum) <= allowed))
            FAIL_CHECK("[" << batch << ", " << i << ", " << j << "] is " << double(got) << ", not " << sum);
        }
      }
  }
}

template <class T>
struct Case {
  Index batch, m, n, k;
  Layout a = Layout::rows, b = Layout::rows;
  bool same_a = false, same_b = false;  // one matrix for the whole batch
  bool bias = false, accumulate = false, gap = false;

  void run() const {
    INFO(batch << " x " << m << " x " << n << " x " << k << ", layouts " << int(a) << ' ' << int(b) << ", bias " << bias
               << ", accumulate " << accumulate << ", same " << same_a << same_b);
    const Operand<T> x(a, same_a ? 0 : batch, m, k, 0), y(b, same_b ? 0 : batch, k, n, 20000);
    const Operand<T> extra(Layout::rows, 0, 1, n, 40000);
    const detail::Array shift = vector(extra.data.data(), n);
    const Index c_row = gap ? n + 3 : n, c_batch = m * c_row + (gap ? 5 : 0);
    std::vector<T> c(std::size_t(batch * c_batch + 1));
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = number<T>(50000 + i);
    const std::vector<T> before = c;
    const detail::Array result = matrices(c.data(), batch, m, n, c_batch, c_row, 1);
    const MatMul p{result, x.array, y.array, bias ? &shift : nullptr, accumulate};
    detail::backend::run<Cpu, T>(p);
    check<T>(p, before);
    for (std::size_t i = 0; i < c.size(); ++i) {  // what is not c stays
      const Index in_batch = c_batch ? Index(i) % c_batch : 0;
      const bool in_row = m > 0 && n > 0 && in_batch < m * c_row && in_batch % c_row < n;
      const bool inside = in_row && Index(i) < batch * c_batch;
      if (!inside && std::memcmp(&c[i], &before[i], sizeof(T)) != 0) FAIL_CHECK("wrote beside c, at " << i);
    }
  }
};

/// Bit `bit` of a case's number, scrambled: options vary over the sizes without every combination at every size.
bool coin(Index number, int bit) { return detail::philox(11, 0, std::uint64_t(number)).word[0] >> bit & 1; }
Layout any_layout(Index number, int which) {
  return layouts[detail::philox(12, 0, std::uint64_t(number)).word[which] % 7];
}

template <class T>
std::vector<T> product(Index m, Index n, Index k, bool transposed_b, Index offset = 0) {
  std::vector<T> a(std::size_t(m * k + offset)), b(std::size_t(k * n + offset)), c(std::size_t(m * n + offset));
  for (Index i = 0; i < m * k; ++i) a[std::size_t(i + offset)] = number<T>(std::size_t(i));
  for (Index i = 0; i < k * n; ++i) b[std::size_t(i + offset)] = number<T>(std::size_t(5000 + i));
  detail::backend::run<Cpu, T>(MatMul{matrix(c.data() + offset, m, n, n, 1), matrix(a.data() + offset, m, k, k, 1),
                                      matrix(b.data() + offset, k, n, transposed_b ? 1 : n, transposed_b ? k : 1)});
  return {c.begin() + offset, c.end()};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0;
}

}  // namespace

#define ALL_TYPES float, double, bfloat16, half, std::int64_t, std::int32_t, std::uint8_t

TEMPLATE_TEST_CASE("matmul of all sizes, layouts and options mixed", "", ALL_TYPES) {
  Index i = 0;
  for (Index m : sizes)
    for (Index n : sizes)
      for (Index k : sizes) {
        Case<TestType>{.batch = 1,
                       .m = m,
                       .n = n,
                       .k = k,
                       .a = any_layout(i, 0),
                       .b = any_layout(i, 1),
                       .bias = coin(i, 0),
                       .accumulate = coin(i, 1),
                       .gap = coin(i, 2)}
            .run();
        ++i;
      }
}

TEMPLATE_TEST_CASE("matmul of every pair of layouts", "", ALL_TYPES) {
  for (Layout a : layouts)
    for (Layout b : layouts) {
      Case<TestType>{.batch = 1, .m = 3, .n = 17, .k = 5, .a = a, .b = b}.run();
      Case<TestType>{.batch = 1, .m = 33, .n = 65, .k = 31, .a = a, .b = b, .bias = true}.run();
      Case<TestType>{.batch = 1, .m = 1, .n = 100, .k = 100, .a = a, .b = b}.run();
      Case<TestType>{.batch = 1, .m = 100, .n = 1, .k = 100, .a = a, .b = b}.run();
      Case<TestType>{.batch = 1, .m = 100, .n = 100, .k = 1, .a = a, .b = b}.run();
    }
}

TEMPLATE_TEST_CASE("matmul with a bias, accumulating or not", "", float, double, bfloat16, half) {
  for (bool bias : {false, true})
    for (bool accumulate : {false, true})
      for (Layout b : {Layout::rows, Layout::columns})
        for (Index m : {1, 7, 64})
          for (Index n : {1, 10, 40})
            Case<TestType>{.batch = 1, .m = m, .n = n, .k = 50, .b = b, .bias = bias, .accumulate = accumulate}.run();
}

TEMPLATE_TEST_CASE("matmul of few rows", "", ALL_TYPES) {
  Index i = 0;
  for (Layout b : {Layout::rows, Layout::columns, Layout::padded_rows, Layout::padded_columns})
    for (Index m : {1, 2, 3, 4, 5})
      for (const auto& [n, k] : {std::pair<Index, Index>{1, 5003},
                                 {3, 2001},
                                 {17, 301},
                                 {63, 130},
                                 {130, 63},
                                 {517, 513},
                                 {2305, 300},
                                 {8263, 3},
                                 {3, 90001}}) {
        Case<TestType>{.batch = 1,
                       .m = m,
                       .n = n,
                       .k = k,
                       .a = any_layout(i, 0),
                       .b = b,
                       .bias = coin(i, 0),
                       .accumulate = coin(i, 1),
                       .gap = coin(i, 2)}
            .run();
        ++i;
      }
}

TEMPLATE_TEST_CASE("matmul of few rows passes on NaN and infinity, to their columns alone", "", float, double, bfloat16,
                   half) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (bool transposed : {false, true})
    for (Index m : {1, 3, 4})
      for (Index l : {0, 15, 512}) {
        constexpr Index n = 521, k = 513;
        std::vector<TestType> a(std::size_t(m * k), TestType(1)), b(std::size_t(k * n), TestType(0.25F)),
            c(std::size_t(m * n));
        const auto set = [&](Index j, float x) { b[std::size_t(transposed ? j * k + l : l * n + j)] = TestType(x); };
        set(0, nan), set(1, infinity), set(520, -infinity);
        detail::backend::run<Cpu, TestType>(MatMul{matrix(c.data(), m, n, n, 1), matrix(a.data(), m, k, k, 1),
                                                   matrix(b.data(), k, n, transposed ? 1 : n, transposed ? k : 1)});
        for (Index i = 0; i < m; ++i) {
          const auto row = [&](Index j) { return double(c[std::size_t(i * n + j)]); };
          CHECK((std::isnan(row(0)) && row(1) == infinity && row(520) == -infinity));
          Index finite = 0;
          for (Index j = 2; j < 520; ++j) finite += row(j) == double(TestType(128.25F));
          CHECK(finite == 518);
        }
      }
}

TEMPLATE_TEST_CASE("matmul of a batch, a factor shared or not", "", ALL_TYPES) {
  for (bool same_a : {false, true})
    for (bool same_b : {false, true})
      for (bool gap : {false, true})
        for (Layout b : {Layout::rows, Layout::columns, Layout::gaps}) {
          Case<TestType> c{
              .batch = 3, .m = 5, .n = 6, .k = 7, .b = b, .same_a = same_a, .same_b = same_b, .bias = true, .gap = gap};
          c.run();
          c.batch = 100;
          c.run();
          c.batch = 5, c.m = 33, c.n = 40, c.k = 50;
          c.run();
          c.batch = 2, c.m = 129, c.n = 130, c.k = 131;
          c.run();
        }
  Case<TestType>{.batch = 0, .m = 3, .n = 4, .k = 5}.run();
}

TEMPLATE_TEST_CASE("matmul larger than every block", "", ALL_TYPES) {
  for (Layout a : {Layout::rows, Layout::columns})
    for (Layout b : {Layout::rows, Layout::columns})
      for (const auto& [m, n] : {std::pair<Index, Index>{205, 410}, {3080, 33}, {33, 3090}})
        Case<TestType>{.batch = 1, .m = m, .n = n, .k = 300, .a = a, .b = b, .bias = true, .accumulate = true}.run();
}

TEMPLATE_TEST_CASE("matmul of many products for each sum", "", float, bfloat16) {
  for (const auto& [a, b] : {std::pair{Layout::rows, Layout::columns}, {Layout::columns, Layout::rows}})
    Case<TestType>{.batch = 1, .m = 33, .n = 270, .k = 8230, .a = a, .b = b, .bias = true, .accumulate = true}.run();
}

// One accumulator for all of k loses up to 4% here. The bounds are OpenBLAS's own errors (0.3.31, SkylakeX kernels,
// float) on the same products: a dot product, few rows and columns, and a sum as a product with ones that are one
// element (stride 0).
TEMPLATE_TEST_CASE("sums of 2^22 equal products keep their digits", "", float, bfloat16, half) {
  struct Long {
    Index m, n;
    Layout a, b;
    double bound;
  };
  const Index k = Index(1) << 22;
  for (const Long& p :
       {Long{1, 1, Layout::rows, Layout::rows, 5.0e-4}, Long{4, 3, Layout::rows, Layout::rows, 7e-5},
        Long{4, 3, Layout::rows, Layout::columns, 7e-5}, Long{4, 3, Layout::columns, Layout::rows, 7e-5},
        Long{5, 3, Layout::columns, Layout::rows, 7e-5}, Long{1, 3, Layout::rows, Layout::columns, 7e-5},
        Long{1, 1, Layout::columns, Layout::same_row, 6.2e-4}}) {
    INFO(p.m << " x " << p.n << ", layouts " << int(p.a) << ' ' << int(p.b));
    Operand<TestType> a(p.a, 0, p.m, k, 0), b(p.b, 0, k, p.n, 0);
    std::fill(a.data.begin(), a.data.end(), TestType(0.1F));
    std::fill(b.data.begin(), b.data.end(), TestType(0.07F));
    std::vector<TestType> c(std::size_t(p.m * p.n));
    detail::backend::run<Cpu, TestType>(MatMul{matrix(c.data(), p.m, p.n, p.n, 1), a.array, b.array});
    const double sum = double(TestType(0.1F)) * double(TestType(0.07F)) * double(k);
    const double rounding = std::is_same_v<TestType, bfloat16> ? 0x1p-9 : std::is_same_v<TestType, half> ? 0x1p-12 : 0;
    double worst = 0;
    for (TestType x : c) worst = std::max(worst, std::abs(double(x) - double(TestType(float(sum)))) / sum);
    CHECK(worst <= p.bound + rounding);
  }
}

TEST_CASE("a sum of many blocks of products does not depend on the number of threads, and adds what c had") {
  const int before = get_num_threads();
  const Index k = 3 * detail::backend::matmul_detail::block_depth + 5;
  set_num_threads(1);
  const auto one = product<float>(5, 7, k, false);
  set_num_threads(3);
  const auto three = product<float>(5, 7, k, false);
  set_num_threads(before);
  CHECK(same_bits(one, three));
  Case<float>{.batch = 2, .m = 5, .n = 7, .k = k, .a = Layout::gaps, .bias = true, .accumulate = true, .gap = true}
      .run();
}

TEMPLATE_TEST_CASE("matmul gives the same bits again, and wherever its operands lie", "", float, double, bfloat16,
                   half) {
  for (bool transposed : {false, true})
    for (Index size : {7, 33, 100, 201}) {
      INFO("size " << size << ", b transposed " << transposed);
      const auto first = product<TestType>(size, size + 1, size + 2, transposed);
      CHECK(same_bits(first, product<TestType>(size, size + 1, size + 2, transposed)));
      CHECK(same_bits(first, product<TestType>(size, size + 1, size + 2, transposed, 1)));
    }
}

TEMPLATE_TEST_CASE("the library's own loops do not depend on the number of threads", "", double, bfloat16,
                   std::int32_t) {
  if (std::is_same_v<TestType, bfloat16> && !detail::backend::matmul_detail::has_tiles())
    SKIP_TEST("this processor has no AMX");
  const int before = get_num_threads();
  set_num_threads(1);
  const auto one = product<TestType>(300, 310, 620, false);
  set_num_threads(4);
  const auto four = product<TestType>(300, 310, 620, false);
  set_num_threads(before);
  CHECK(same_bits(one, four));
}

TEMPLATE_TEST_CASE("a product of few rows does not depend on the number of threads", "", float, double, bfloat16, half,
                   std::int32_t) {
  const int before = get_num_threads();
  for (bool transposed : {false, true})
    for (Index m : {1, 2, 4})
      for (Index n : {530, 2305, 9001}) {
        set_num_threads(1);
        const auto one = product<TestType>(m, n, 517, transposed);
        for (int threads : {2, 3}) {
          set_num_threads(threads);
          CHECK(same_bits(one, product<TestType>(m, n, 517, transposed)));
        }
      }
  set_num_threads(before);
}

TEMPLATE_TEST_CASE("many threads multiply at once; a primitive made in one runs in another", "", float, double,
                   bfloat16) {
  const detail::SerialRegion serial;  // one thread each, here and there: the same bits
  struct Shape3 {
    Index m, n, k;
  };
  const Shape3 shapes[] = {{4, 5, 6}, {64, 128, 784}, {64, 10, 128}, {33, 65, 100}, {1, 100, 100}};
  std::vector<std::vector<TestType>> expected;
  for (const Shape3& s : shapes)
    for (bool transposed : {false, true}) expected.push_back(product<TestType>(s.m, s.n, s.k, transposed));
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        const detail::SerialRegion inner;
        for (int repeat = 0; repeat < 5; ++repeat) {
          auto at = expected.begin();
          for (const Shape3& s : shapes)
            for (bool transposed : {false, true})
              wrong += !same_bits(*at++, product<TestType>(s.m, s.n, s.k, transposed));
        }
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("the primitive cache gives back what was put, to any thread, and stays bounded") {
  using namespace tern::detail::onednn;
  tern::detail::KeyedCache<Primitive, Key> cache;
  const auto has = [&](const Key& key) { return bool(tern::detail::Lease(cache, key)); };
  const auto make = [&](const Key& key) {
    return &*tern::detail::Lease(cache, key, [&] { return new Primitive(key, nullptr, {}); });
  };
  CHECK_FALSE(has(Key(1, 2, 3)));
  const Primitive* const made = make(Key(1, 2, 3));
  CHECK_FALSE(made->usable());
  CHECK_FALSE(has(Key(1, 2)));
  CHECK_FALSE(has(Key(1, 2, 4)));
  std::thread([&] {
    const tern::detail::Lease leased(cache, Key(1, 2, 3));
    CHECK(&*leased == made);
    CHECK_FALSE(has(Key(1, 2, 3)));
  }).join();
  CHECK(make(Key(1, 2, 3)) == made);
  for (int i = 0; i < 100000; ++i) make(Key(i));
  int left = 0;
  for (int i = 0; i < 100000; ++i) left += has(Key(i));
  CHECK(left <= 1024);
  CHECK(left > 900);
}

TEST_CASE("oneDNN keeps to the instructions that the user allows, and never uses AMX where that crashes") {
  for (const char* const limit : {"env -u DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA=SSE41",
                                  "env -u ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA=SSE41", "ONEDNN_MAX_CPU_ISA=ALL"}) {
    INFO(limit);
    const tern_test::Ended ended = tern_test::run_test_case("in a new process: what oneDNN may use", limit);
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: what oneDNN may use", "[.]") {
  using namespace tern::detail::onednn;
  const char* const limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (limit && limit == std::string("ALL")) {
#if DNNL_VERSION_MAJOR < 3
    CHECK_FALSE(has_amx());
#endif
  } else {
    CHECK(uses(dnnl_cpu_isa_sse41));
    CHECK_FALSE(uses(dnnl_cpu_isa_avx));
  }
}

}  // namespace backend_matmul
