// Forecasts the next 12 hours of a table's column that has gaps.
#include <tern/tern.hpp>
#include <tern/data/csv.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
using namespace tern;

constexpr Index past = 48, ahead = 12;

struct Forecaster : nn::Module<Cpu> {
  nn::Sequential<Cpu> convolutions{nn::Conv1d<Cpu>(2, 16, 3, {.padding = 2, .dilation = 2}), nn::ReLU<Cpu>(),
                                   nn::Conv1d<Cpu>(16, 16, 3, {.padding = 4, .dilation = 4}), nn::ReLU<Cpu>()};
  nn::LSTM<Cpu> lstm{16, 32, {.batch_first = true}};
  nn::Linear<Cpu> out{32, ahead};
  TERN_FIELDS(Forecaster, convolutions, lstm, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {  // [batch, past, 2]
    const auto features = convolutions(x.transpose(1, 2)).transpose(1, 2);
    const auto [states, last] = lstm(features);
    return x[{Slice(), -1, Slice(0, 1)}] + out(states[{Slice(), -1}]);
  }
};

int main() {
  manual_seed(0);
  const auto path = std::filesystem::temp_directory_path() / "tern_load.csv";
  {
    std::ofstream file(path);
    file << "hour,load\n";
    const auto noise = randn<Cpu>({1200});
    for (int hour = 0; hour < 1200; ++hour) {
      file << hour << ',';
      if (hour % 37 != 5)
        file << 50 + 0.01 * hour + 10 * std::sin(hour * 2 * M_PI / 24) + 4 * std::cos(hour * 2 * M_PI / 168) +
                    0.5 * noise[hour].item();
      file << '\n';
    }
  }
  const auto table = data::Csv::load(path.string());
  auto load = table.columns<float>({"load"}).squeeze(1);
  std::filesystem::remove(path);

  const auto missing = load.isnan();
  const auto train_part = load[Slice({}, 960)];
  const auto mean = train_part.nanmean();
  const auto scale = (train_part - mean).nan_to_num().std();
  load = ((load - mean) / scale).nan_to_num(0.0);
  const auto series = stack({load, missing.to(f32)}, 1);                   // [1200, 2]
  const auto windows = series.unfold(0, past + ahead, 1).transpose(1, 2);  // [n, past + ahead, 2]
  const auto x = windows[{Slice(), Slice({}, past)}], y = windows[{Slice(), Slice(past, {}), 0}];
  const auto seen = windows[{Slice(), Slice(past, {}), 1}] == 0;  // gaps are no targets

  const Index split = 960 - past - ahead;
  const data::TensorDataset train(x[Slice({}, split)], y[Slice({}, split)], seen[Slice({}, split)].to(f32));
  Forecaster net;
  optim::AdamW adam(net.parameters(), {.lr = 5e-3});
  optim::ReduceLROnPlateau plateau(adam, {.patience = 1});
  const auto masked_mse = [](const auto& a, const auto& b, const auto& mask) {
    return ((a - b).square() * mask).sum() / mask.sum();
  };
  for (int epoch = 0; epoch < 8; ++epoch) {
    double total = 0;
    for (auto& [inputs, targets, mask] : data::loader<Cpu>(train, {.batch_size = 32, .shuffle = true})) {
      const auto loss = masked_mse(net(inputs), targets, mask);
      adam.zero_grad();
      loss.backward();
      adam.step();
      total += loss.item();
    }
    plateau.step(total);
  }

  NoGradGuard no_grad;
  const auto test = x[Slice(960, {})], truth = y[Slice(960, {})];
  const auto mask = seen[Slice(960, {})].to(f32);
  const double error = std::sqrt(masked_mse(net(test), truth, mask).item<double>());
  const auto yesterday = test[{Slice(), Slice(past - 24, past - 24 + ahead), 0}];
  const double naive = std::sqrt(masked_mse(yesterday, truth, mask).item<double>());
  const double steps = load[Slice(960, {})].diff().abs().mean().item();
  std::printf("root mean square error %.3f; as yesterday %.3f; from hour to hour %.3f\n", error, naive, steps);
  return error < naive ? 0 : 1;
}
