// New tensors with given elements.
#pragma once
#include <initializer_list>
#include <optional>
#include <vector>

#include "../backend/copy.hpp"
#include "map.hpp"
#include "nested_list.hpp"

namespace tern { inline namespace TERN_BUILD {

/// A tensor of a shape with these values, in row-major order.
template <Device D, Element T>
Tensor<D, T> from_vector(const std::vector<T>& values, const detail::Shape& shape,
                         D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"from_vector", here});
  if (detail::checked_numel({"from_vector", CallSite::unknown}, shape) != Index(values.size()))
    Error::fail("from_vector", {Index(values.size()), " values do not fill shape ", shape});
  if constexpr (HostDevice<D>) {
    const Tensor<D, T> x = empty<D, T>(shape, device);
    for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = values[i];
    return x;
  } else {
    return to_device(from_vector<Cpu>(values, shape), device);
  }
}

/// A tensor of a list, a list of lists, and so on: tensor<Cpu>({{1, 2}, {3, 4}}). Error if lists beside each other
/// differ in length, or if T does not hold a number.
template <Device D, Element T = float>
Tensor<D, T> tensor(std::initializer_list<detail::NestedList> list, CallSite here = {}) {
  const CallScope scope({"tensor", here});
  const detail::NestedList nested(list);
  const detail::Shape shape = nested.shape();
  std::vector<T> values;
  values.reserve(std::size_t(shape.numel()));
  nested.each(
      [](void* out, const detail::Number& number) {
        auto& elements = *static_cast<std::vector<T>*>(out);
        if constexpr (detail::is_floating_v<T>) elements.push_back(static_cast<compute_t<T>>(number.value()));
        else elements.push_back(detail::element<T>({"tensor", CallSite::unknown}, number));
      },
      &values);
  return from_vector<D, T>(values, shape);
}
namespace detail {
template <class X>
concept Container = requires(const X& x) {
  typename X::value_type;
  x.size();
  x.begin();
};
/// The type of the numbers in containers of containers.
template <class X>
struct NumberOf {
  using type = X;
};
template <Container X>
struct NumberOf<X> : NumberOf<typename X::value_type> {};

/// Appends the numbers of dimension `dim` and those below. Error if the containers beside each other differ in size.
template <class Out, Container X>
void append_numbers(std::vector<Out>& out, Shape& shape, const X& values, int dim = 0) {
  const Index size = Index(values.size());
  if (shape.n == dim) shape.push_back(size);
  else if (shape[dim] != size) Error::fail("tensor", {"rows of different lengths: ", shape[dim], " and ", size});
  for (const typename X::value_type& value : values) {
    if constexpr (Container<typename X::value_type>) append_numbers(out, shape, value, dim + 1);
    else out.push_back(static_cast<Out>(element<Out>({"tensor", CallSite::unknown}, number_t<Out>(value))));
  }
}
}  // namespace detail

/// The numbers of a std::vector, an std::array or another container, which may hold containers again: its dimensions
/// are theirs. The element type is the numbers', unless T is given. Error if T does not hold one.
template <Device D, class T = void, detail::Container X>
auto tensor(const X& values, CallSite here = {}) {
  using Number = typename detail::NumberOf<X>::type;
  using Out = std::conditional_t<std::is_void_v<T>, Number, T>;
  static_assert(Element<Out>,
                "no tensor holds elements of the container's type: give another, as in tensor<Cpu, float>(values)");
  const CallScope scope({"tensor", here});
  if constexpr (std::is_same_v<X, std::vector<Out>>) {
    return from_vector<D>(values, Index(values.size()));
  } else {
    std::vector<Out> numbers;
    detail::Shape shape;
    detail::append_numbers(numbers, shape, values);
    return from_vector<D, Out>(numbers, shape);
  }
}
/// A 0-d tensor.
template <Device D, Element T = float, class N>
  requires(std::is_arithmetic_v<N> || detail::is_half_v<N>)
Tensor<D, T> tensor(N value, CallSite here = {}) {
  const CallScope scope({"tensor", here});
  return full<D, T>({}, detail::number_t<T>(value));
}
/// The same with the element type as an argument: tensor<D>({1, 2}, f64).
template <Device D, Element T>
Tensor<D, T> tensor(std::initializer_list<detail::NestedList> list, detail::Type<T>, CallSite here = {}) {
  return tensor<D, T>(list, here);
}
template <Device D, Element T, class X>
Tensor<D, T> tensor(const X& values, detail::Type<T>, CallSite here = {}) {
  return tensor<D, T>(values, here);
}
template <Device D, Element T = float>
Tensor<D, T> scalar_tensor(detail::number_t<T> value, detail::Type<T> = {}, CallSite here = {}) {
  const CallScope scope({"scalar_tensor", here});
  return full<D, T>({}, value);
}

template <Device D, Element T>
template <Element U>
Tensor<D, U> Tensor<D, T>::new_tensor(std::initializer_list<detail::NestedList> list, detail::Type<U>,
                                      CallSite here) const {
  const CallScope scope({"new_tensor", here});
  return to_device(tensor<Cpu, U>(list), device());
}
template <Device D, Element T>
template <Element U, class X>
Tensor<D, U> Tensor<D, T>::new_tensor(const X& values, detail::Type<U>, CallSite here) const {
  const CallScope scope({"new_tensor", here});
  return to_device(tensor<Cpu, U>(values), device());
}

/// A tensor over memory of the caller, row-major. If there is a deleter, deleter(data, context) runs when the last user
/// is gone.
template <HostDevice D, Element T>
Tensor<D, T> from_blob(T* data, const detail::Shape& shape, detail::Deleter deleter = nullptr, void* context = nullptr,
                       CallSite here = {}) {
  const CallScope scope({"from_blob", here});
  if (!data && detail::checked_numel({"from_blob", CallSite::unknown}, shape) != 0)
    Error::fail("from_blob", {"a null pointer does not hold shape ", shape});
  const detail::Deleter none = [](void*, void*) {};
  return Tensor<D, T>(detail::new_external(dtype_of<T>, shape, data, deleter ? deleter : none, context));
}
/// The same over memory that must not be written: an operation that would is an Error. What is written through data()
/// is not seen.
template <HostDevice D, Element T>
Tensor<D, T> from_blob(const T* data, const detail::Shape& shape, detail::Deleter deleter = nullptr,
                       void* context = nullptr, CallSite here = {}) {
  const Tensor<D, T> x = from_blob<D, T>(const_cast<T*>(data), shape, deleter, context, here);
  x.impl()->read_only = true;
  return x;
}

namespace detail {
/// The element type that arange chooses by default: int64 for integers, else float.
template <class T, class Number>
using range_element =
    std::conditional_t<!std::is_void_v<T>, T, std::conditional_t<std::is_integral_v<Number>, Index, float>>;

/// start, start + step, …, `count` numbers, on x's device.
template <class D, class T>
Tensor<D, Index> arange_like(const Tensor<D, T>& x, Index start, Index step, Index count) {
  const Tensor<D, Index> range = empty<D, Index>(count, x.device());
  backend::run<D>(backend::FillRange<Index>{*range.impl(), start, step});
  return range;
}
}  // namespace detail

/// start, start + step, … below end: arange<D>(0, 10, 2) has type int64, arange<D>(0, 1, 0.25) has type float. Error if
/// the element type does not hold a number.
template <Device D, class T = void, class A, class B, class C = int>
auto arange(A start, B end, C step = 1, CallSite here = {}) {
  const CallScope scope({"arange", here});
  using Common = std::common_type_t<A, B, C>;
  using Out = detail::range_element<T, Common>;
  if (step == 0 || (start != end && (start < end) != (step > 0)))
    Error::fail("arange", {"steps of ", double(step), " do not lead from ", double(start), " to ", double(end)});
  Index count;
  if constexpr (std::is_integral_v<Common>) {
    // Distances of Index fit their unsigned type. empty() refuses max_elements.
    const auto unsigned_of = [](auto number) { return std::uint64_t(Index(number)); };
    const std::uint64_t span = step > 0 ? unsigned_of(end) - unsigned_of(start) : unsigned_of(start) - unsigned_of(end);
    const std::uint64_t stride = step > 0 ? unsigned_of(step) : -unsigned_of(step);
    count = span == 0 ? 0 : Index(std::min((span - 1) / stride + 1, std::uint64_t(detail::max_elements)));
  } else {
    const double exact = (double(end) - double(start)) / double(step);
    count = detail::checked_index({"arange", CallSite::unknown}, exact);
    if (double(count) < exact) ++count;
  }
  if constexpr (!detail::is_floating_v<Out>) {
    detail::element<Index>({"arange", CallSite::unknown}, step);  // a negative step of bytes wraps around
    detail::element<Out>({"arange", CallSite::unknown}, start);
    if (count > 0) {
      // A step may be as large as Index: its multiples wrap around.
      const std::uint64_t last = std::uint64_t(Index(start)) + std::uint64_t(count - 1) * std::uint64_t(Index(step));
      detail::element<Out>({"arange", CallSite::unknown}, Index(last));
    }
  }
  const Tensor<D, Out> x = empty<D, Out>(count);
  detail::backend::run<D>(
      detail::backend::FillRange<Out>{*x.impl(), detail::scalar_t<Out>(start), detail::scalar_t<Out>(step)});
  return x;
}
template <Device D, class T = void, class A>
auto arange(A end, CallSite here = {}) {
  return arange<D, T>(A(0), end, 1, here);
}
/// The same with the element type as an argument: arange<D>(0, 10, 2, f64).
template <Device D, class A, class B, class C, Element T>
Tensor<D, T> arange(A start, B end, C step, detail::Type<T>, CallSite here = {}) {
  return arange<D, T>(start, end, step, here);
}
template <Device D, class A, class B, Element T>
Tensor<D, T> arange(A start, B end, detail::Type<T>, CallSite here = {}) {
  return arange<D, T>(start, end, 1, here);
}
template <Device D, class A, Element T>
Tensor<D, T> arange(A end, detail::Type<T>, CallSite here = {}) {
  return arange<D, T>(A(0), end, 1, here);
}

/// `steps` numbers from start to end, both included, with equal distances.
template <Device D, Element T = float>
  requires detail::is_floating_v<T>
Tensor<D, T> linspace(detail::RealNumber start, detail::RealNumber end, Index steps, detail::Type<T> = {},
                      CallSite here = {}) {
  const CallScope scope({"linspace", here});
  if (steps < 0) Error::fail("linspace", {"the number of steps must not be negative: ", steps});
  const Tensor<D, T> x = empty<D, T>(steps);
  detail::backend::run<D>(
      detail::backend::FillRange<T>{*x.impl(), start, steps > 1 ? (end - start) / double(steps - 1) : 0});
  if (steps > 1) {  // the last number is exactly `end`
    detail::Array last = *x.impl();
    last.data += (steps - 1) * Index(sizeof(T));
    last.numel = last.dims[0] = 1;
    detail::backend::run<D>(detail::backend::Fill<T>{last, end});
  }
  return x;
}

/// Ones on the diagonal, zeros elsewhere: [n, columns], columns = n by default.
template <Device D, Element T = float>
Tensor<D, T> eye(Index n, std::optional<Index> columns = {}, detail::Type<T> = {}, CallSite here = {}) {
  const CallScope scope({"eye", here});
  const Index m = columns.value_or(n);
  const Tensor<D, T> x = zeros<D, T>({n, m});
  detail::Array diagonal = *x.impl();
  diagonal.ndim = 1;
  diagonal.numel = diagonal.dims[0] = n < m ? n : m;
  diagonal.strides[0] = m + 1;
  detail::update_contiguous(diagonal);
  detail::backend::run<D>(detail::backend::Fill<T>{diagonal, 1});
  return x;
}
template <Device D, Element T>
Tensor<D, T> eye(Index n, detail::Type<T> type, CallSite here = {}) {
  return eye<D, T>(n, {}, type, here);
}

}}  // namespace tern
