// Calls with arguments at which the arithmetic of sizes breaks: numbers near the ends of Index and of 32 bits, negative
// ones, empty tensors, many dimensions. Each call gives a result that can be read, or an Error with the call's line.
#pragma once
#include "tensors.hpp"
#include "tern/core/for_each.hpp"
#include "tern/ops/sort.hpp"

namespace tern_test {

/// Small numbers, those around the ends of 32 bits and of Index, and those whose double or square overflows. None is
/// the size of a tensor that takes the test long but fits in memory.
inline constexpr Index hostile_numbers[] = {0,
                                            1,
                                            2,
                                            3,
                                            7,
                                            -1,
                                            -2,
                                            -3,
                                            -7,
                                            Index(1) << 42,
                                            -(Index(1) << 42),
                                            (Index(1) << 42) + 1,
                                            tern::detail::max_elements,
                                            tern::detail::max_elements + 1,
                                            Index(1) << 61,
                                            Index(1) << 62,
                                            -(Index(1) << 62),
                                            INT64_MAX - 1,
                                            INT64_MAX,
                                            INT64_MIN + 1,
                                            INT64_MIN};
/// Further ones, for arguments that are no sizes of results.
inline constexpr Index hostile_positions[] = {Index(1) << 31,     (Index(1) << 31) - 1, -(Index(1) << 31),
                                              Index(1) << 32,     -(Index(1) << 32),    (Index(1) << 32) + 1,
                                              3689348814741910324};

/// Reads all of a result, and takes its gradient.
template <class D, class T>
void check_readable(const Tensor<D, T>& y) {
  Index numel = 1;
  for (int i = 0; i < y.dim(); ++i) numel *= y.size(i);
  CHECK(y.numel() == numel);
  if (numel > 1 << 16) return;
  const std::size_t read = values_of(y).size();  // throws what a kernel on the device has found
  CHECK(Index(read) == numel);
  if constexpr (std::is_same_v<T, double>)
    if (y.requires_grad()) y.backward(ones<D, T>(y.shape()));
}
template <class D, class T>
void check_readable(const ValuesAndIndices<D, T>& y) {
  check_readable(y.values), check_readable(y.indices);
}
template <class Y>
void check_readable(const std::pair<Y, Y>& y) {
  check_readable(y.first), check_readable(y.second);
}
template <class Y>
void check_readable(const std::vector<Y>& all) {
  for (std::size_t i = 0; i < all.size() && i < 10; ++i) check_readable(all[i]);
}

template <class D>
struct HostileCall {
  const char* text;
  void (*call)(const Tensor<D, double>& x, Index v);
};

/// A function's calls, each with a hostile number in other places.
template <class D>
struct HostileCalls {
  const char* name;  // and those of the functions besides that it may fail in
  bool sizes;        // the numbers are sizes of results
  std::vector<HostileCall<D>> calls;
};
#define TERN_TEST_HOSTILE_CALL(...) \
  {#__VA_ARGS__,                    \
   []([[maybe_unused]] const Tensor<D, double>& x, [[maybe_unused]] Index v) { check_readable(__VA_ARGS__); }},
/// A row of calls of a function with positions v; SIZES, with v that are sizes of results. x is each of several
/// tensors.
#define POSITIONS(name, ...)                                             \
  {                                                                      \
    #name, false, { TERN_FOR_EACH(TERN_TEST_HOSTILE_CALL, __VA_ARGS__) } \
  }
#define SIZES(name, ...)                                                \
  {                                                                     \
    #name, true, { TERN_FOR_EACH(TERN_TEST_HOSTILE_CALL, __VA_ARGS__) } \
  }

/// True if the Error is in the name of a function that the text calls, or says what refuses tensors anywhere: too
/// little memory, more elements than a tensor has, or more dimensions than a Shape has.
inline bool names_function_of(const std::string& text, const std::string& error) {
  const auto says = [&](const char* words) { return error.find(words) != std::string::npos; };
  const std::string name = error.substr(0, error.find(':'));
  return text.find(name) != std::string::npos || name == "shape" || says(": out of memory") ||
         says(" would have more than ");
}

/// Makes the calls of a row with each tensor and each number.
template <class D>
void check_hostile(const HostileCalls<D>& row) {
  std::vector<Index> numbers(std::begin(hostile_numbers), std::end(hostile_numbers));
  if (!row.sizes) numbers.insert(numbers.end(), std::begin(hostile_positions), std::end(hostile_positions));
  const tern::detail::Shape shapes[] = {{2, 3},    {0, 3},       {},           {5},
                                        {1, 4, 6}, {1, 4, 5, 6}, {0, 4, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 2}};
  for (const tern::detail::Shape& shape : shapes) {
    const auto x = spread_tensor<D>(shape).requires_grad_();
    for (const HostileCall<D>& call : row.calls)
      for (const Index v : numbers) {
        INFO(call.text << " of " << tern::detail::text({shape}) << " with " << v);
        const std::string error = whole_error_of([&] { call.call(x, v); });
        INFO(error);
        CHECK(names_function_of(row.name + std::string(" ") + call.text, error));
        CHECK((error.empty() || line_of(error).starts_with(" (hostile_arguments.cpp:")));
      }
  }
}

}  // namespace tern_test
