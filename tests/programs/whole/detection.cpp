// A one-stage detector finds bright boxes in noise.
#include <tern/tern.hpp>
#include <cstdio>
using namespace tern;

constexpr Index size = 48, cells = 6;  // a cell has 8 x 8 pixels

struct Sample {
  Tensor<Cpu> image, boxes;  // [1, size, size] and [n, 4]: x1, y1, x2, y2
};

Sample draw() {
  Sample s{0.3 * randn<Cpu>({1, size, size}), {}};
  std::vector<Tensor<Cpu>> boxes;
  const auto places = randperm<Cpu>(4).to_vector();
  for (int k = 0; k < 2; ++k) {
    const Index left = 24 * (places[k] % 2), top = 24 * (places[k] / 2);
    const auto r = randint<Cpu, Index>(8, 18, {2}).to_vector();
    const auto x = left + randint<Cpu, Index>(24 - r[0], {1}).item();
    const auto y = top + randint<Cpu, Index>(24 - r[1], {1}).item();
    s.image[{0, Slice(y, y + r[1]), Slice(x, x + r[0])}] += 1;
    boxes.push_back(tensor<Cpu>({float(x), float(y), float(x + r[0]), float(y + r[1])}));
  }
  s.boxes = stack(boxes);
  return s;
}

// Intersection over union of [n, 4] and [m, 4]: [n, m].
Tensor<Cpu> box_iou(const Tensor<Cpu>& a, const Tensor<Cpu>& b) {
  const auto area = [](const auto& x) { return (x[{Slice(), Slice(2, {})}] - x[{Slice(), Slice({}, 2)}]).prod(1); };
  const auto low = maximum(a[{Slice(), None, Slice({}, 2)}], b[{Slice(), Slice({}, 2)}]);
  const auto high = minimum(a[{Slice(), None, Slice(2, {})}], b[{Slice(), Slice(2, {})}]);
  const auto both = (high - low).clamp_min(0).prod(2);
  return both / (area(a).unsqueeze(1) + area(b) - both);
}

// The boxes that no better one covers by half, best first.
std::vector<Index> nms(const Tensor<Cpu>& boxes, const Tensor<Cpu>& scores, double threshold) {
  auto rest = scores.argsort(0, true);
  std::vector<Index> kept;
  while (rest.numel() > 0) {
    kept.push_back(rest[0].item());
    const auto iou = box_iou(boxes[rest[Slice(0, 1)]], boxes[rest])[0];
    rest = rest[iou <= threshold];
  }
  return kept;
}

nn::Sequential<Cpu> block(Index in, Index out, Index stride) {
  return nn::Sequential<Cpu>(nn::Conv2d<Cpu>(in, out, 3, {.stride = stride, .padding = 1, .bias = false}),
                             nn::BatchNorm2d<Cpu>(out), nn::ReLU<Cpu>());
}

struct Detector : nn::Module<Cpu> {
  nn::Sequential<Cpu> body{block(1, 16, 2), block(16, 32, 2), block(32, 32, 2), block(32, 32, 1)};
  nn::Conv2d<Cpu> head{32, 5, 1};
  nn::Buffer<Cpu> centres;  // [cells², 2], in pixels
  Detector() {
    const auto axis = (arange<Cpu, float>(cells) + 0.5) * double(size / cells);
    const auto grid = meshgrid({axis, axis}, "xy");
    centres = stack({grid[0].flatten(), grid[1].flatten()}, 1);
  }
  TERN_FIELDS(Detector, body, head, centres)
  // Scores [n, cells²] and boxes [n, cells², 4].
  std::tuple<Tensor<Cpu>, Tensor<Cpu>> forward(const Tensor<Cpu>& x) {
    const auto y = head(body(x)).flatten(2).transpose(1, 2);
    const auto middle = centres + 8 * y.slice(2, {1, 3}).tanh(), half = 4 * y.slice(2, {3, 5}).exp();
    return {y.select(2, 0), cat({middle - half, middle + half}, 2)};
  }
};

int main() {
  manual_seed(5);
  Detector net;
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  optim::StepLR schedule(adam, {.step_size = 90});
  for (int step = 0; step < 130; ++step) {
    std::vector<Tensor<Cpu>> images;
    auto has = zeros<Cpu>({16, cells * cells}), wanted = zeros<Cpu>({16, cells * cells, 4});
    for (Index i = 0; i < 16; ++i) {
      const auto [image, boxes] = draw();
      images.push_back(image);
      const auto middle = (boxes[{Slice(), Slice({}, 2)}] + boxes[{Slice(), Slice(2, {})}]) / 2;
      const auto cell = cdist(middle, net.centres).argmin(1);
      has[i][cell] = 1;
      wanted[i][cell] = boxes;
    }
    const auto [scores, boxes] = net(stack(images));
    const auto loss = binary_cross_entropy_with_logits(scores, has, {.pos_weight = scalar_tensor<Cpu>(5)}) +
                      0.1 * smooth_l1_loss(boxes[has > 0], wanted[has > 0]);
    adam.zero_grad();
    loss.backward();
    adam.step();
    schedule.step();
  }
  net.eval();
  InferenceMode inference;
  Index found = 0, false_alarms = 0;
  for (int i = 0; i < 50; ++i) {
    const auto [image, truth] = draw();
    const auto [scores, boxes] = net(image.unsqueeze(0));
    const auto likely = scores[0].sigmoid() > 0.5;
    const auto b = boxes[0][likely];
    for (const Index k : nms(b, scores[0][likely], 0.3))
      (box_iou(b[k].unsqueeze(0), truth).max().item() > 0.5f ? found : false_alarms) += 1;
  }
  std::printf("%d of 100 boxes found, %d false alarms\n", int(found), int(false_alarms));
  return found >= 90 && false_alarms <= 10 ? 0 : 1;
}
