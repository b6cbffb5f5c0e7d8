// A temporal convolutional network (Bai et al., 2018) adds the two numbers of a sequence that a mask marks.
#include <tern/tern.hpp>
#include <iostream>
#include <memory>
#include <vector>
using namespace tern;

struct Chomp1d : nn::Module<Cpu> {
  Index chomp_size;
  TERN_FIELDS(Chomp1d, chomp_size)
  Chomp1d(Index chomp) : chomp_size(chomp) {}
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    return x.index({Slice(), Slice(), Slice(None, -chomp_size)}).contiguous();
  }
};

struct TemporalBlock : nn::Module<Cpu> {
  using WNConv = decltype(nn::utils::weight_norm(nn::Conv1d<Cpu>(1, 1, 1)));
  WNConv conv1, conv2;
  Chomp1d chomp1, chomp2;
  nn::ReLU<Cpu> relu;
  nn::Dropout<Cpu> dropout;
  std::unique_ptr<nn::Conv1d<Cpu>> downsample;
  TERN_FIELDS(TemporalBlock, conv1, conv2, chomp1, chomp2, relu, dropout, downsample)
  TemporalBlock(Index in, Index out, Index kernel, Index stride, Index dilation, Index padding, double p = 0.2)
      : conv1(nn::utils::weight_norm(
            nn::Conv1d<Cpu>(in, out, kernel, {.stride = stride, .padding = padding, .dilation = dilation}))),
        conv2(nn::utils::weight_norm(nn::Conv1d<Cpu>(out, out, kernel, stride, padding, dilation))), chomp1(padding),
        chomp2(padding), dropout(p) {
    if (in != out) downsample = std::make_unique<nn::Conv1d<Cpu>>(in, out, 1);
  }
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    auto out = dropout(relu(chomp1(conv1(x))));
    out = dropout(relu(chomp2(conv2(out))));
    auto res = downsample ? (*downsample)(x) : x;
    return relu(out + res);
  }
};

struct TCN : nn::Module<Cpu> {
  nn::ModuleList<TemporalBlock> network;
  nn::Linear<Cpu> linear;
  TERN_FIELDS(TCN, network, linear)
  TCN(Index input, Index output, std::vector<Index> channels, Index kernel, double p)
      : linear(channels.back(), output) {
    for (size_t i = 0; i < channels.size(); ++i) {
      Index dilation = 1 << i;
      network.append(TemporalBlock(i == 0 ? input : channels[i - 1], channels[i], kernel, 1, dilation,
                                   (kernel - 1) * dilation, p));
    }
  }
  Tensor<Cpu> forward(Tensor<Cpu> x) {
    for (auto& block : network) x = block(x);
    return linear(x.select(2, -1));
  }
};

int main() {
  manual_seed(1);
  const Index N = 256, L = 16;
  auto value = rand<Cpu>({N, 1, L});
  auto mask = zeros<Cpu>({N, 1, L});
  auto target = zeros<Cpu>({N, 1});
  for (Index i = 0; i < N; ++i) {
    auto pos = randperm<Cpu>(L)[{Slice(None, 2)}];
    for (auto p : pos.to_vector()) mask[i][0][p] = 1;
    target[i] = (value[i] * mask[i]).sum();
  }
  auto X = cat({value, mask}, 1);
  TCN model(2, 1, {8, 8, 8}, 3, 0.0);
  optim::Adam optimizer(model.parameters(), 4e-3);
  optim::ReduceLROnPlateau plateau(optimizer, {.mode = "min", .factor = 0.5, .patience = 2});
  double loss_value = 0;
  for (int epoch = 0; epoch < 40; ++epoch) {
    model.train();
    double total = 0;
    for (Index i = 0; i < N; i += 32) {
      auto x = X.narrow(0, i, 32), y = target.narrow(0, i, 32);
      optimizer.zero_grad();
      auto loss = nn::functional::mse_loss(model(x), y);
      loss.backward();
      nn::utils::clip_grad_norm_(model.parameters(), 0.5);
      optimizer.step();
      total += loss.item() * 32;
    }
    loss_value = total / N;
    plateau.step(loss_value);
  }
  std::cout << "mse " << loss_value << " lr " << optimizer.param_groups()[0].lr << "\n" << model.network.size() << "\n";
  return loss_value > 0.05;  // always to answer 1 has 0.17
}
