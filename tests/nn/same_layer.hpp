// Layers that are made twice: by PyTorch's positional arguments, and by options with names.
#pragma once
#include "support/tensors.hpp"

#include <tern/nn/module.hpp>

namespace tern_test {

template <class Y>
const Y& first_result(const Y& y) {
  return y;
}
template <class Y, class... Rest>
const Y& first_result(const std::tuple<Y, Rest...>& all) {
  return std::get<0>(all);
}

/// Checks that layers of both kinds, made from the same random state, have the same result for x in training.
template <class A, class B, class... X>
void check_same_layer(const A& positional, const B& named, const X&... x) {
  const auto result = [&](const auto& make) {
    manual_seed(1);
    auto layer = make();
    return values_of(first_result(layer(x...)));
  };
  CHECK(result(positional) == result(named));
}

}  // namespace tern_test
