// A U-Net finds the discs in noisy pictures.
#include <tern/tern.hpp>
#include <cstdio>
using namespace tern;

struct DoubleConv : nn::Module<Cpu> {
  nn::Sequential<Cpu> layers;
  DoubleConv(Index in, Index out)
      : layers(nn::Conv2d<Cpu>(in, out, 3, {.padding = 1, .bias = false}), nn::BatchNorm2d<Cpu>(out), nn::ReLU<Cpu>(),
               nn::Conv2d<Cpu>(out, out, 3, {.padding = 1, .bias = false}), nn::BatchNorm2d<Cpu>(out),
               nn::ReLU<Cpu>()) {}
  TERN_FIELDS(DoubleConv, layers)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) { return layers(x); }
};

struct Up : nn::Module<Cpu> {
  nn::ConvTranspose2d<Cpu> up;
  DoubleConv conv;
  Up(Index in, Index out) : up(in, out, 2, {.stride = 2}), conv(2 * out, out) {}
  TERN_FIELDS(Up, up, conv)
  Tensor<Cpu> forward(const Tensor<Cpu>& x, const Tensor<Cpu>& skip) { return conv(cat({skip, up(x)}, 1)); }
};

struct UNet : nn::Module<Cpu> {
  nn::ModuleList<DoubleConv> down;
  nn::ModuleList<Up> up;
  nn::MaxPool2d<Cpu> pool{2};
  nn::Conv2d<Cpu> head;
  UNet(Index in, Index classes, std::vector<Index> widths) : head(widths[0], classes, 1) {
    for (const Index width : widths) {
      down.push_back(DoubleConv(in, width));
      in = width;
    }
    for (std::size_t i = widths.size() - 1; i > 0; --i) up.push_back(Up(widths[i], widths[i - 1]));
  }
  TERN_FIELDS(UNet, down, up, pool, head)
  Tensor<Cpu> forward(Tensor<Cpu> x) {
    std::vector<Tensor<Cpu>> skips;
    for (auto& block : down) {
      if (!skips.empty()) x = pool(x);
      skips.push_back(x = block(x));
    }
    skips.pop_back();
    for (auto& block : up) {
      x = block(x, skips.back());
      skips.pop_back();
    }
    return head(x);
  }
};

// Pictures [n, 1, 32, 32] and masks of the same shape.
std::pair<Tensor<Cpu>, Tensor<Cpu>> discs(Index n) {
  const auto axis = arange<Cpu, float>(32);
  const auto grid = meshgrid({axis, axis}, "ij");
  auto masks = zeros<Cpu>({n, 1, 32, 32});
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) {
      const auto centre = rand<Cpu>({2}) * 32;
      const auto radius = 3 + 4 * rand<Cpu>({1});
      const auto inside = (grid[0] - centre[0]).square() + (grid[1] - centre[1]).square() < radius.square();
      masks[i][0][inside] = 1;
    }
  return {masks * 0.6 + 0.3 * randn<Cpu>({n, 1, 32, 32}), masks};
}

Tensor<Cpu> dice_loss(const Tensor<Cpu>& logits, const Tensor<Cpu>& target) {
  const auto p = sigmoid(logits);
  const auto both = (p * target).sum({1, 2, 3});
  return 1 - ((2 * both + 1) / (p.sum({1, 2, 3}) + target.sum({1, 2, 3}) + 1)).mean();
}

int main() {
  manual_seed(0);
  UNet net(1, 1, {8, 16, 32});
  optim::AdamW adam(net.parameters(), {.lr = 1e-2, .weight_decay = 1e-4});
  optim::OneCycleLR schedule(adam, {.max_lr = 1e-2, .total_steps = 160});
  for (int step = 0; step < 160; ++step) {
    const auto [x, y] = discs(16);
    const auto logits = net(x);
    const auto loss = binary_cross_entropy_with_logits(logits, y) + dice_loss(logits, y);
    adam.zero_grad();
    loss.backward();
    optim::clip_grad_norm_(net.parameters(), 1);
    adam.step();
    schedule.step();
    if (step % 40 == 0) std::printf("step %d: loss %.3f\n", step, loss.item<double>());
  }
  net.eval();
  NoGradGuard no_grad;
  const auto [x, y] = discs(32);
  const auto found = net(x) > 0, truth = y > 0.5;
  const double iou = (found & truth).sum().item<double>() / (found | truth).sum().item<double>();
  std::printf("intersection over union %.3f\n", iou);
  return iou > 0.85 ? 0 : 1;
}
