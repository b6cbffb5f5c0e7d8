// A network's parameters as one vector, for methods that see a point in space: torch.nn.utils.
#pragma once
#include "../ops/cat.hpp"
#include "../ops/shape.hpp"
#include "../tensor/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// The elements of all parameters, which have one device and element type, one after the other. Gradients reach the
/// parameters.
template <Device D, Element T>
Tensor<D, T> parameters_to_vector(const tern::detail::Parameters<tern::detail::TensorType<D, T>>& parameters,
                                  CallSite here = {}) {
  const CallScope scope({"parameters_to_vector", here});
  std::vector<Tensor<D, T>> parts;
  for (const auto& p : parameters) parts.push_back(reshape(p.tensor.template as<D, T>(), -1, here));
  return cat(parts, 0, here);
}

/// Overwrites the parameters with the vector's elements, in the order of parameters_to_vector(). Error unless it has as
/// many as they.
template <Device D, Element T>
void vector_to_parameters(const Tensor<D, T>& vector,
                          const tern::detail::Parameters<tern::detail::TensorType<D, T>>& parameters,
                          CallSite here = {}) {
  const CallSite op{"vector_to_parameters", here};
  const CallScope scope(op);
  Index count = 0, position = 0;
  for (const auto& p : parameters) count += p.tensor.numel();
  if (vector.checked(op)->ndim != 1 || vector.numel() != count)
    Error::fail(op, {"a vector of ", count, " elements is needed, not ", vector.shape()});
  const NoGradGuard off;
  for (const auto& p : parameters) {
    const auto to = p.tensor.template as<D, T>();
    copy_(to, view(narrow(vector.detach(), 0, position, to.numel()), to.shape()), here);
    position += to.numel();
  }
}

/// The same for plain tensors, or a std::vector of nn::Parameters.
template <class X>
  requires requires { typename X::device_type; }
auto parameters_to_vector(const std::vector<X>& tensors, CallSite here = {}) {
  return parameters_to_vector(tern::detail::parameters_of(tensors), here);
}
template <Device D, Element T>
Tensor<D, T> parameters_to_vector(std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) {
  return parameters_to_vector(std::vector<Tensor<D, T>>(tensors), here);
}
template <Device D, Element T, class X>
  requires requires { typename X::device_type; }
void vector_to_parameters(const Tensor<D, T>& vector, const std::vector<X>& tensors, CallSite here = {}) {
  vector_to_parameters(vector, tern::detail::parameters_of(tensors), here);
}

namespace utils {
using nn::parameters_to_vector;
using nn::vector_to_parameters;
}  // namespace utils

}}}  // namespace tern::nn
