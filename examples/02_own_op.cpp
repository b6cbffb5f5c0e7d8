// Lesson 2: an op of your own, twice: fused from a lambda, and recorded by hand.
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

/// x / (1 + e^(-beta x)). One pass over memory; the derivative comes from the same lambda.
const auto swish = fuse([](auto x, auto beta) { return x / (1 + exp(-beta * x)); });

/// x clipped to [-1, 1], with a gradient that pretends it was not ("straight through"): no derivative of the formula
/// gives that, so the gradient is written down. `wrt` names the input; its lambda gets the output's gradient.
template <Device D, Element T>
Tensor<D, T> clip_straight_through(const Tensor<D, T>& x, CallSite here = {}) {
  Tensor<D, T> y;
  {
    const NoGradGuard off;
    y = x.clamp(-1, 1);
  }
  record({"clip_straight_through", here}, y, wrt(x, [](const auto& g) { return g; }));
  return y;
}

int main() {
  auto x = tensor<Cpu, double>({-2, -0.5, 0, 0.5, 2});
  x.requires_grad_();

  swish(x, 1.5).sum().backward();
  std::printf("swish'  %s\n", to_string(x.grad()).c_str());

  // gradcheck compares a gradient with finite differences; it throws where they differ.
  gradcheck([](const auto& v) { return swish(v, 1.5); }, std::tuple{x});

  x.set_grad({});
  clip_straight_through(x).sum().backward();
  std::printf("clipped %s\n", to_string(clip_straight_through(x.detach())).c_str());
  std::printf("its gradient %s\n", to_string(x.grad()).c_str());
}
