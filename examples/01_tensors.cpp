// Lesson 1: tensors, views, and gradients.
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

int main() {
  // A tensor's type says where it lives and what it holds: Tensor<Cpu, float>.
  auto x = tensor<Cpu>({{1, 2, 3}, {4, 5, 6}});
  std::printf("%s\n", to_string(x).c_str());

  // Views share elements with their base: nothing is copied.
  auto column = x.select(1, 2);
  column.fill_(0);
  std::printf("the last column is now zero:\n%s\n", to_string(x).c_str());

  // Shapes broadcast as in PyTorch; what does not fit is an Error that names the op, the rule and the shapes.
  auto row = tensor<Cpu>({10, 20, 30});
  std::printf("%s\n", to_string(x + row).c_str());
  try {
    matmul(x, x);
  } catch (const Error& error) { std::printf("%s\n", error.what()); }

  // A leaf that requires a gradient puts what is computed from it on the tape; backward() runs the tape.
  auto w = tensor<Cpu>({0.5, -1, 2});
  w.requires_grad_();
  auto loss = ((x * w).sum(1) - tensor<Cpu>({1, 2})).square().mean();
  loss.backward();
  std::printf("loss %g\ngradient %s\n", loss.item(), to_string(w.grad()).c_str());

  // The gradient of a gradient: d²(t³)/dt² = 6 t.
  auto t = tensor<Cpu>({2});
  t.requires_grad_();
  auto first = grad(t * t * t, t, {.create_graph = true});
  std::printf("second derivative of t^3 at 2: %g\n", grad(first, t).item());
}
