// Lesson 4: learning by hand: a line through noisy points, by gradient descent without any layer or optimiser.
#include <tern/tern.hpp>

#include <cmath>
#include <cstdio>

using namespace tern;

int main() {
  manual_seed(1);  // the same numbers in every run, on every device

  // Points around y = 3 x - 2.
  const auto x = uniform<Cpu>({100, 1}, -1, 1);
  const auto y = 3 * x - 2 + 0.1 * randn<Cpu>({100, 1});

  // What is to be learned: leaves of the tape.
  auto slope = zeros<Cpu>({1});
  auto shift = zeros<Cpu>({1});
  slope.requires_grad_();
  shift.requires_grad_();

  for (int step = 0; step <= 100; ++step) {
    // Forward: how far the line is from the points. Every op is recorded, because what it computes depends on a leaf.
    const auto loss = (slope * x + shift - y).square().mean();
    if (step % 20 == 0) std::printf("step %3d: loss %.4f\n", step, loss.item());

    // Backward: the tape runs once, and adds d loss / d leaf to each leaf's grad(). It adds: so the old one goes first.
    slope.set_grad({});
    shift.set_grad({});
    loss.backward();

    // A step downhill. It is no part of what is differentiated, so it is not recorded: without the guard it would be an
    // Error, since a leaf must not be overwritten under a tape that may still need it.
    const NoGradGuard no_grad;
    slope -= 0.2 * slope.grad();
    shift -= 0.2 * shift.grad();
  }

  // The last two lines of the loop are what optim::SGD does; lesson 5 uses it.
  std::printf("found y = %.3f x %+.3f, drawn around y = 3 x - 2\n", slope.item(), shift.item());
  return std::fabs(slope.item() - 3) < 0.1 && std::fabs(shift.item() + 2) < 0.1 ? 0 : 1;
}
