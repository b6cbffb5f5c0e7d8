// compile_mnist in PyTorch's C++ front end: an MNIST trainer on the network of programs/mnist.cpp.
#include <torch/torch.h>

#include <cstdio>
#include <string>

struct Net : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr}, out{nullptr};
  torch::nn::Dropout dropout{nullptr};

  Net() {
    first = register_module("first", torch::nn::Linear(784, 512));
    second = register_module("second", torch::nn::Linear(512, 512));
    out = register_module("out", torch::nn::Linear(512, 10));
    dropout = register_module("dropout", torch::nn::Dropout(0.2));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = dropout(torch::relu(first(x.flatten(1))));
    x = dropout(torch::relu(second(x)));
    return out(x);
  }
};

auto mnist(const std::string& folder, torch::data::datasets::MNIST::Mode mode) {
  return torch::data::datasets::MNIST(folder, mode)
      .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
      .map(torch::data::transforms::Stack<>());
}

template <class Loader>
double train(Net& net, torch::optim::Optimizer& optimiser, Loader& loader) {
  net.train();
  double sum = 0;
  long batches = 0;
  for (auto& batch : loader) {
    optimiser.zero_grad();
    auto loss = torch::cross_entropy_loss(net.forward(batch.data), batch.target);
    loss.backward();
    optimiser.step();
    sum += loss.template item<double>();
    ++batches;
  }
  return sum / static_cast<double>(batches);
}

template <class Loader>
double accuracy(Net& net, Loader& loader) {
  const torch::NoGradGuard guard;
  net.eval();
  long right = 0, all = 0;
  for (auto& batch : loader) {
    right += net.forward(batch.data).argmax(1).eq(batch.target).sum().template item<long>();
    all += batch.data.size(0);
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "data";
  const int epochs = argc > 2 ? std::stoi(argv[2]) : 10;
  torch::manual_seed(1);
  auto training = mnist(folder, torch::data::datasets::MNIST::Mode::kTrain);
  auto testing = mnist(folder, torch::data::datasets::MNIST::Mode::kTest);
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(training), 128);
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(testing), 1000);
  Net net;
  torch::optim::RMSprop optimiser(net.parameters(), torch::optim::RMSpropOptions(1e-3));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const double loss = train(net, optimiser, *train_loader);
    std::printf("epoch %d: loss %.4f, test accuracy %.4f\n", epoch, loss, accuracy(net, *test_loader));
  }
  torch::save(net.parameters(), "mnist.pt");
}
