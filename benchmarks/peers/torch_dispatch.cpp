// The dispatch rows in PyTorch's C++ front end: row names on stdin, a line {"ns", "mode"} for each on stdout, timed by
// the rule of timing.py.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>

namespace {

constexpr int repetitions = 8;
constexpr double min_seconds = 0.02;  // of one repetition

double nanoseconds(const std::function<void(long)>& steps) {
  using clock = std::chrono::steady_clock;
  steps(1);
  long count = 1;
  double best = 1e300;
  for (int r = 0; r < repetitions; ++r) {
    for (;;) {
      const auto start = clock::now();
      steps(count);
      const double seconds = std::chrono::duration<double>(clock::now() - start).count();
      if (seconds >= min_seconds) {
        best = std::min(best, seconds / static_cast<double>(count));
        break;
      }
      count =
          std::max(count + 1, static_cast<long>(count * std::min(10., 1.2 * min_seconds / std::max(seconds, 1e-9))));
    }
  }
  return best * 1e9;
}

void add1(long n) {
  const torch::NoGradGuard guard;
  const auto a = torch::ones(1), b = torch::ones(1);
  for (long i = 0; i < n; ++i) auto c = a + b;
}

void add1_grad(long n) {
  const auto a = torch::ones(1).requires_grad_(), b = torch::ones(1);
  for (long i = 0; i < n; ++i) auto c = a + b;
}

void mul_backward1(long n) {
  auto a = torch::ones(1).requires_grad_();
  const auto b = torch::ones(1);
  for (long i = 0; i < n; ++i) {
    (a * b).backward();
    a.mutable_grad().reset();
  }
}

void mlp_tiny(long n) {
  torch::nn::Sequential net{torch::nn::Linear(10, 32), torch::nn::ReLU(), torch::nn::Linear(32, 1)};
  torch::optim::SGD sgd{net->parameters(), torch::optim::SGDOptions(0.01)};
  const auto x = torch::randn({1, 10}), y = torch::randn({1, 1});
  for (long i = 0; i < n; ++i) {
    sgd.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    sgd.step();
  }
}

}  // namespace

int main(int, char** argv) {
  torch::set_num_threads(std::stoi(argv[1]));
  const std::map<std::string, std::function<void(long)>> rows{
      {"add1", add1}, {"add1_grad", add1_grad}, {"mul_backward1", mul_backward1}, {"mlp_tiny", mlp_tiny}};
  for (std::string name; std::getline(std::cin, name);)
    std::cout << "{\"ns\": " << nanoseconds(rows.at(name)) << ", \"mode\": \"C++\"}" << std::endl;
}
