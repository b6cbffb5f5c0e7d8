// ./benchmarks/run placement [products] [sums] [crossings] [steps] [--largest N] [--json FILE]: what
// profile::placement() predicts on this machine, beside what the same work takes, on the CPU and on the GPU. Without
// names all four. The measured sizes lie between those of the curves.
#include <tern/io/file.hpp>
#include <tern/io/json.hpp>
#include <tern/models/resnet.hpp>
#include <tern/profile/placement.hpp>
#include <tern/tern.hpp>

#include "../next_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace tern;

/// Seconds that one of many runs takes, of the device by its events, else of the host: the least over rounds for 0.1 s,
/// two at least. One before the first opens libraries and compiles kernels.
template <class Run>
double seconds_each(bool on_device, const Run& run) {
  const auto measure = [&](int times) {
    const auto repeat = [](const void* f, int count) {
      for (int i = 0; i < count; ++i) (*static_cast<const Run*>(f))();
    };
    return profile::measuring::seconds_of(on_device, repeat, &run, times) / times;
  };
  measure(1);
  const double begin = detail::now();
  double least = measure(1);
  const int times = 1 + int(0.002 / (detail::now() - begin));
  do least = std::min(least, measure(times));
  while (detail::now() < begin + 0.1);
  return least;
}

profile::Times measure_product(Index n) {
  const auto a = randn<Cpu>({n, n}), b = randn<Cpu>({n, n});
  profile::Times times{.cpu = seconds_each(false, [&] { matmul(a, b); })};
  if (!cuda::is_available()) return times;
  const auto x = a.cuda(), y = b.cuda();
  times.cuda = seconds_each(true, [&] { matmul(x, y); });
  times.copied = seconds_each(true, [&] { matmul(a.cuda(), b.cuda()).cpu(); });
  return times;
}

profile::Times measure_sum(Index n) {
  const auto a = randn<Cpu>({n}), b = randn<Cpu>({n});
  profile::Times times{.cpu = seconds_each(false, [&] { a + b; })};
  if (!cuda::is_available()) return times;
  const auto x = a.cuda(), y = b.cuda();
  times.cuda = seconds_each(true, [&] { x + y; });
  times.copied = seconds_each(true, [&] { (a.cuda() + b.cuda()).cpu(); });
  return times;
}

template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  nn::Linear<D, T> first{784, 512}, second{512, 512}, out{512, 10};
  TERN_FIELDS(Mlp, first, second, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(relu(second(dropout(relu(first(x)), 0.2))), 0.2)); }
};

template <Device D, class T = float>
struct Cnn : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 32, 3}, conv2{32, 64, 3};
  nn::Linear<D, T> dense{64 * 12 * 12, 128}, out{128, 10};
  TERN_FIELDS(Cnn, conv1, conv2, dense, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const auto y = dropout(max_pool2d(relu(conv2(relu(conv1(x)))), 2), 0.25);
    return out(dropout(relu(dense(y.flatten(1))), 0.5));
  }
};

/// A training step of a network, with its batch and labels sent each time.
template <class D, class Net, class Optimiser, class X>
auto training_of(D device, const std::shared_ptr<Net>& net, const std::shared_ptr<Optimiser>& optimiser, const X& x,
                 const Tensor<Cpu, Index>& labels) {
  return [=] {
    optimiser->zero_grad();
    cross_entropy((*net)(x.to(device)), labels.to(device)).backward();
    optimiser->step();
  };
}

std::string shown(double value, bool seconds) {
  char text[32] = "-";
  if (std::isnan(value) || (value == 0 && seconds)) return text;
  if (!seconds)
    std::isinf(value) ? std::snprintf(text, sizeof text, "none") : std::snprintf(text, sizeof text, "%.0f", value);
  else if (value < 1e-3) std::snprintf(text, sizeof text, "%.2f us", 1e6 * value);
  else std::snprintf(text, sizeof text, "%.3f ms", 1e3 * value);
  return text;
}

class Report {
 public:
  void part(const char* name, std::vector<const char*> sides, bool seconds) {
    seconds_ = seconds;
    std::printf("\n%-22s", name);
    for (const char* side : sides) std::printf("  %-34s", side);
    std::printf("\n%-22s", "");
    for (std::size_t i = 0; i < sides.size(); ++i) std::printf("  %11s %11s %8s  ", "predicted", "measured", "error");
    std::printf("\n");
    part_ = name, sides_ = std::move(sides);
  }
  void add(const std::string& name, std::vector<std::pair<double, double>> pairs) {
    std::printf("%-22s", name.c_str());
    json_.object();
    json_.member("part", part_), json_.member("name", name);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto& [predicted, measured] = pairs[i];
      const double error = predicted / measured - 1;
      const bool known = std::isfinite(error);
      std::printf("  %11s %11s ", shown(predicted, seconds_).c_str(), shown(measured, seconds_).c_str());
      known ? std::printf("%+7.0f%%  ", 100 * error) : std::printf("%8s  ", "-");
      json_.object(sides_[i]);
      json_.member("predicted", predicted), json_.member("measured", measured),
          json_.member("error", known ? error : NAN);
      json_.end();
      if (!known) continue;
      ++count_;
      if (std::abs(error) <= (seconds_ ? 0.25 : 0.1)) ++within_;
    }
    json_.end();
    std::printf("\n");
    std::fflush(stdout);
  }
  std::string finish() {
    std::printf("\n%d of %d within 25%%, crossings within 10%%\n", within_, count_);
    json_.end();
    return json_.text() + "\n";
  }
  Report() { json_.array(); }

 private:
  io::Json json_;
  const char* part_ = "";
  std::vector<const char*> sides_;
  bool seconds_ = true;
  int within_ = 0, count_ = 0;
};

std::vector<std::pair<double, double>> pairs_of(const profile::Times& predicted, const profile::Times& measured) {
  return {{predicted.cpu, measured.cpu}, {predicted.cuda, measured.cuda}, {predicted.copied, measured.copied}};
}

/// The size from which on the side's time is less than the CPU's: the middle of a factor of 1.03 between sizes that
/// were measured, from the largest down. Infinite where that is not faster.
double measured_crossing(double least, double most, profile::Times (*measure)(Index), double profile::Times::* side) {
  const auto is_faster = [&](double size) {
    const profile::Times times = measure(Index(std::round(size)));
    return times.*side < times.cpu;
  };
  if (!is_faster(most)) return HUGE_VAL;
  while (most / least > 1.03) {
    const double middle = std::sqrt(least * most);
    (is_faster(middle) ? most : least) = middle;
  }
  return std::sqrt(least * most);
}

}  // namespace

int main(int argc, char** argv) try {
  std::set<std::string> parts;
  const char* json = nullptr;
  Index largest = 4000;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "products" || word == "sums" || word == "crossings" || word == "steps") parts.insert(word);
    else if (word == "--json" && i + 1 < argc) json = argv[++i];
    else if (word == "--largest" && i + 1 < argc && std::atoi(argv[i + 1]) >= 100) largest = std::atoi(argv[++i]);
    else throw std::runtime_error("usage: placement [products] [sums] [crossings] [steps] [--largest N] [--json FILE]");
  }
  const auto wanted = [&](const char* part) { return parts.empty() || parts.count(part) != 0; };
  const double start = detail::now();
  const profile::Placement place = profile::placement({.remeasure = true});
  std::printf("%s\nThe curves took %.1f s.\n", place.text().c_str(), detail::now() - start);
  Report report;
  const std::vector<const char*> sides{"CPU", "GPU", "GPU with copies"};

  if (wanted("products")) {
    report.part("n x n times n x n", sides, true);
    for (const Index n : {100, 150, 220, 300, 450, 700, 900, 1400, 2000, 3000, 4000})
      if (n <= largest) report.add(std::to_string(n), pairs_of(place.matmul(n, n, n).predicted, measure_product(n)));
  }
  if (wanted("sums")) {
    report.part("a + b, elements", sides, true);
    for (const Index n : {10'000, 30'000, 100'000, 300'000, 1'000'000, 3'000'000, 10'000'000})
      if (n <= largest * largest)
        report.add(std::to_string(n), pairs_of(place.elementwise(n).predicted, measure_sum(n)));
  }
  if (wanted("crossings") && cuda::is_available()) {
    report.part("the GPU is faster from", {"data there", "with copies"}, false);
    const profile::Prediction product = place.matmul(100, 100, 100), sum = place.elementwise(1000);
    const double n = double(largest);
    report.add("n x n",
               {{100 * product.there.grow, measured_crossing(32, n, measure_product, &profile::Times::cuda)},
                {100 * product.copying.grow, measured_crossing(32, n, measure_product, &profile::Times::copied)}});
    report.add("elements", {{1000 * sum.there.grow,
                             measured_crossing(1024, std::min(n * n, 3e7), measure_sum, &profile::Times::cuda)},
                            {1000 * sum.copying.grow,
                             measured_crossing(1024, std::min(n * n, 3e7), measure_sum, &profile::Times::copied)}});
  }
  if (wanted("steps")) {
    report.part("training step", {"CPU", "GPU with the batch"}, true);
    const auto add = [&](const char* name, const auto& make) {
      const profile::Times predicted = place.training_step(make).predicted;
      auto on_host = make(Cpu{});
      const double cpu = seconds_each(false, on_host),
                   cuda = cuda::is_available() ? seconds_each(true, make(Cuda{})) : 0;
      report.add(name, {{predicted.cpu, cpu}, {predicted.copied, cuda}});
    };
    const auto digits = randint<Cpu>(0, 10, {128});
    add("mnist_mlp", [&, x = randn<Cpu>({128, 784})]<Device D>(D device) {
      const auto net = std::make_shared<Mlp<D>>();
      return training_of(device, net,
                         std::make_shared<optim::RMSprop>(net->parameters(), optim::RMSpropOptions{.lr = 1e-3}), x,
                         digits);
    });
    add("mnist_cnn", [&, x = randn<Cpu>({128, 1, 28, 28}).contiguous(channels_last)]<Device D>(D device) {
      const auto net = std::make_shared<Cnn<D>>();
      return training_of(device, net,
                         std::make_shared<optim::Adadelta>(net->parameters(), optim::AdadeltaOptions{.lr = 1}), x,
                         digits);
    });
    add("resnet20", [&, x = randn<Cpu>({128, 3, 32, 32}).contiguous(channels_last)]<Device D>(D device) {
      const auto net = std::make_shared<models::ResNet<D>>(models::resnet20<D>());
      return training_of(device, net,
                         std::make_shared<optim::SGD>(
                             net->parameters(), optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-4}),
                         x, digits);
    });
    const auto words = randint<Cpu>(0, 10000, {35, 32}), next = randint<Cpu>(0, 10000, {35 * 32});
    add("ptb_lstm200", [&]<Device D>(D device) {
      const auto net = std::make_shared<Around<nn::LSTM>::NextWords<D>>();
      return training_of(device, net,
                         std::make_shared<optim::SGD>(net->parameters(), optim::SGDOptions{.lr = 0.1, .momentum = 0.9}),
                         words, next);
    });
  }
  const std::string text = report.finish();
  if (json) io::write_file_atomically(json, text);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
