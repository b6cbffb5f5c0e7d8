#include "tern/profile/placement.hpp"

#include <algorithm>

#include "../io/temporary_folder.hpp"
#include "emulated_time.hpp"
#include "support/tensors.hpp"
#include "tern/nn/dropout.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/activations.hpp"
#include "tern/ops/softmax.hpp"
#include "tern/optim/sgd.hpp"
#include "tern/profile/ledger.hpp"

namespace profile_placement {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using profile::Curve;
using profile::Placement;

namespace {

/// Seconds in proportion to the size: straight in logarithms, so exact at every size.
Curve proportional(double a_second) { return {{{1, 1 / a_second}, {1e3, 1e3 / a_second}, {1e15, 1e15 / a_second}}}; }

/// A machine of round figures: the CPU's 100 GFLOP/s and 12 GB/s, the GPU's 10,000 and 1,200; 10 GB/s to the device, 5
/// back.
Placement round_machine() {
  Placement place;
  place.cpu_matmul = proportional(1e11);
  place.cpu_elementwise = proportional(1e9);
  place.cuda_matmul = proportional(1e13);
  place.cuda_elementwise = proportional(1e11);
  place.cpu_convolution = proportional(5e10);
  place.cuda_convolution = proportional(5e12);
  place.queueing[int(detail::Effort::product)] = 3e-6, place.queueing[int(detail::Effort::convolution)] = 5e-6,
  place.queueing[int(detail::Effort::pass)] = 1e-6;
  place.copies[0][0] = proportional(1e10);
  place.copies[1][0] = proportional(5e9);
  place.copies[0][1] = place.copies[1][1] = proportional(2e10);
  return place;
}

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{20, 30}, out{30, 10};
  nn::Dropout<D, T> dropout{0.5};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(relu(hidden(x)))); }
};

}  // namespace

TEST_CASE("placement: products are predicted by their operations and by what they touch, copies by their bytes") {
  const Placement place = round_machine();
  // 2 * 200^3 = 16e6 operations; 160,000 bytes of each matrix.
  const profile::Prediction prediction = place.matmul(200, 200, 200);
  CHECK(prediction.predicted.cpu == Approx(160e-6));
  CHECK(prediction.predicted.cuda == Approx(1.6e-6));
  CHECK(prediction.to_device == Approx(32e-6));
  CHECK(prediction.to_host == Approx(32e-6));
  CHECK(prediction.predicted.copied == Approx(65.6e-6));
  // A vector's product reads its matrix: 4000^2 elements, a third of what so many sums touch.
  const profile::Prediction thin = place.matmul(1, 4000, 4000);
  CHECK(thin.predicted.cpu == Approx((4000. * 4000 + 8000) / 3 * 1e-9));
  CHECK(thin.predicted.cuda == Approx((4000. * 4000 + 8000) / 3 * 1e-11));
  CHECK(place.copy(1e6, detail::Work::to_device) == Approx(1e-4));
  CHECK(place.copy(1e6, detail::Work::to_host) == Approx(2e-4));
  CHECK(place.copy(1e6, detail::Work::to_host, true) == Approx(5e-5));
}

TEST_CASE("placement: from what size and from how many uses on") {
  const Placement place = round_machine();
  // n x n: 2n^3 / 1e11 on the CPU; 2n^3 / 1e13, 8n^2 / 1e10 and 4n^2 / 5e9 on the GPU: equal where n = 1.6e-9
  // / 1.98e-11 = 80.8. The CPU's sums, n^2 / 1e9, are slower than its product below n = 50 only.
  profile::Prediction prediction = place.matmul(200, 200, 200);
  CHECK(prediction.copying.grow == Approx(1.6e-9 / 1.98e-11 / 200));
  CHECK(prediction.copying.from == "from [81, 81] x [81, 81] on");
  CHECK(place.matmul(20, 20, 20).copying.from == prediction.copying.from);
  CHECK(prediction.there.grow < 0.01);  // always
  CHECK(prediction.uses() == 1);        // 64 us of copies, 158.4 us won by each use
  prediction = place.matmul(50, 50, 50);
  CHECK(prediction.uses() == 2);  // 4 us; 2.475 us
  // A sum reads 8 bytes an element over a wire that brings 10 in a nanosecond, and the CPU does it in that time.
  prediction = place.elementwise(1000);
  CHECK(prediction.predicted.cpu == Approx(1e-6));
  CHECK(prediction.predicted.copied == Approx(0.8e-6 + 0.01e-6 + 0.8e-6));
  CHECK(prediction.copying.grow == HUGE_VAL);
  CHECK(prediction.copying.from == "at no size of this shape that was measured");
  CHECK(prediction.uses() == 2);  // 1.6 us; 0.99 us
  Placement slow = place;
  slow.cuda_elementwise = place.cpu_elementwise;
  CHECK(slow.elementwise(1000).uses() == 0);
}

TEST_CASE("placement: an answer as text") {
  const Placement place = round_machine();
  CHECK(place.matmul(50, 50, 50).text() ==
        "matmul [50, 50] x [50, 50]\n"
        "                              predicted\n"
        "  CPU                         0.0025 ms\n"
        "  GPU, data there             0.0000 ms\n"
        "  GPU, copied each time       0.0040 ms\n"
        "  copies: 0.0020 ms to the device, 0.0020 ms to the host\n"
        "  data there: the GPU is faster from [1, 1] x [1, 1] on\n"
        "  copied each time: the GPU is faster from [81, 81] x [81, 81] on\n"
        "  copied once: the GPU is faster from 2 uses on\n");
  Placement alone = place;
  alone.why_not = "there is none";
  const profile::Prediction prediction = alone.matmul(50, 50, 50, {.measured = true});
  CHECK(prediction.measured.cpu > 0);
  CHECK(prediction.measured.cuda == 0);
  CHECK(prediction.uses() == 0);
  CHECK_THAT(prediction.text(),
             ContainsSubstring("predicted       measured\n  CPU                         0.0025 ms") &&
                 ContainsSubstring(" ms\n  no GPU: there is none\n") && !ContainsSubstring("copied"));
}

TEST_CASE("placement: a step takes what the curves say to each piece of its work") {
  Placement place = round_machine();
  place.why_not = "none";
  const auto seconds = [&](auto&& work) { return place.training_step([&](auto) { return work; }).predicted.cpu; };
  const auto a = rand<Cpu>({50, 20}), b = rand<Cpu>({50, 200}), c = rand<Cpu>({200, 300}), row = rand<Cpu>({300});
  const auto x = rand<Cpu>({2, 3, 10, 10}).contiguous(channels_last),
             w = rand<Cpu>({4, 3, 3, 3}).contiguous(channels_last);
  CHECK(seconds([&] { matmul(b, c); }) == Approx(2. * 50 * 200 * 300 / 1e11).epsilon(1e-9));
  const auto touching = [](double numbers) {
    return Approx(numbers / 3 / 1e9).epsilon(1e-9);
  };  // 4 bytes each, 12 an element of a sum
  CHECK(seconds([&] { a + a; }) == touching(3 * 1000));
  CHECK(seconds([&] { a.exp(); }) == touching(2 * 1000));
  CHECK(seconds([&] { a.clone(); }) == touching(2 * 1000));
  CHECK(seconds([&] { matmul(b, c) + row; }) ==
        Approx(2. * 50 * 200 * 300 / 1e11 + (2 * 15000 + 300) / 3e9).epsilon(1e-9));
  CHECK(seconds([&] { a.sum(1); }) == touching(1000));  // its result is less than what the curves tell apart
  CHECK(seconds([&] { a.add_(1); }) == touching(2 * 1000));
  CHECK(seconds([&] { softmax(a, 1); }) == touching(2 * 1000));
  CHECK(seconds([&] { conv2d(x, w); }) == Approx(2. * 2 * 8 * 8 * 4 * 27 / 5e10).epsilon(1e-9));
  nn::Linear<Cpu> layer(20, 50);
  layer(a).sum().backward();
  optim::SGD sgd(layer.parameters(), {.lr = 0.1, .momentum = 0.9});
  CHECK(seconds([&] { sgd.step(); }) == touching(5 * 1050));  // the parameter and the momentum are read and written
}

TEST_CASE("placement: a step on the GPU takes the longer of queueing and computing, and its copies", "[cuda]") {
  NEED_EMULATOR();
  Placement place = round_machine();
  const auto make = []<Device D>(D device) {
    return [x = ones<Cpu>({1000}), y = ones<D>({1000}, device)] {
      y + y;
      y* y;
      x.to(y.device());
    };
  };
  profile::Prediction prediction = place.training_step(make);
  CHECK(prediction.kernels == 2);
  CHECK(prediction.queueing == Approx(2e-6));
  CHECK(prediction.computing == Approx(2 * 1000 / 1e11));
  CHECK(prediction.predicted.cuda == Approx(2e-6 + 4000 / 1e10));
  CHECK(place
            .training_step([]<Device D>(D) {
              return [x = ones<D>({20, 20})] {
                matmul(x, x);
                x + x;
              };
            })
            .queueing == Approx(4e-6));
  place.cuda_elementwise = proportional(1e8);
  prediction = place.training_step(make, {.measured = true});
  CHECK(prediction.predicted.cuda == Approx(2e-5 + 4000 / 1e10));
  CHECK(prediction.measured.cuda > 0);
  CHECK(prediction.measured.cpu > 0);
  CHECK_THAT(prediction.text(),
             ContainsSubstring("a step: 0.0 MFLOP in 0 products and convolutions, 0.0 MB in 2 passes\n") &&
                 ContainsSubstring(
                     "  on the GPU the host queues 2 kernels in 0.0020 ms, which the device computes in 0.0200 ms\n"));
}

TEST_CASE("placement: a model's step, and from which number of steps on the GPU is faster", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const Placement place = round_machine();
  manual_seed(7);
  const Net<Cpu> net;
  const auto batch = ones<Cpu>({50, 20});
  const RandomState before = random_state();
  profile::Prediction prediction = place.step(net, batch);
  // Two products forward, two and one (the batch needs no gradient) backward.
  const double flops = 2. * 50 * (2 * 20 * 30 + 3 * 30 * 10), parameters = 4 * (20 * 30 + 30 + 30 * 10 + 10);
  CHECK(prediction.predicted.cpu > flops / 1e11);
  CHECK(prediction.predicted.cuda == Approx(std::max(prediction.queueing, prediction.computing)));
  CHECK(prediction.kernels >= 5 + 6);  // relu, dropout and the sum, both ways
  CHECK(prediction.each == Approx(4e3 / 1e10));
  CHECK(prediction.once == Approx(parameters * 3e-10));
  const double gain = prediction.predicted.cpu - prediction.predicted.copied;
  CHECK(prediction.uses() == (gain > 0 ? Index(std::ceil(prediction.once / gain)) : 0));
  CHECK_THAT(prediction.text(), ContainsSubstring("a step: 0.2 MFLOP in 5 products and convolutions, ") &&
                                    ContainsSubstring(" passes, parameters of 3.8 kB, a batch of 4.0 kB\n"));
  prediction = place.step(net, batch, {.measured = true});
  CHECK(prediction.measured.cpu > 0);
  CHECK(prediction.measured.cuda > 5e-6);  // five products, each 1 us before it starts
  CHECK(prediction.measured.copied - prediction.measured.cuda ==
        Approx(1e-6).epsilon(1e-4));  // 600 ns and 4,000 bytes at 10
  CHECK(random_state().stream == before.stream);
  for (const auto& parameter : net.parameters()) CHECK(!parameter.tensor.template as<Cpu>().grad().defined());
}

TEST_CASE("placement: what lies beyond the curves is not measured, and no number") {
  Placement place = round_machine();
  place.cuda_matmul = {{{2e3, 2e-10}, {2e7, 2e-6}, {2e9, 2e-4}}, 8};  // up to 1000 x 1000
  profile::Prediction prediction = place.matmul(2000, 2000, 2000);
  CHECK(prediction.predicted.cpu == Approx(0.16));
  CHECK(prediction.predicted.cuda == Approx(1.6e-3));
  CHECK(prediction.copying.from == "from [81, 81] x [81, 81] on");
  prediction = place.matmul(2001, 2000, 2000);
  CHECK(prediction.predicted.cpu == Approx(0.16).epsilon(0.01));
  CHECK(std::isnan(prediction.predicted.cuda));
  CHECK(std::isnan(prediction.predicted.copied));
  CHECK(!prediction.uses());
  CHECK_THAT(prediction.text(),
             ContainsSubstring("  GPU, data there          not measured\n  GPU, copied each time    not measured\n") &&
                 ContainsSubstring("copied once: not measured\n"));
  place.cpu_matmul = place.cuda_matmul;
  prediction = place.matmul(3000, 3000, 3000);
  CHECK(std::isnan(prediction.predicted.cpu));
  CHECK(prediction.copying.grow == HUGE_VAL);  // the curves are the same, as far as they go
  CHECK_THAT(prediction.text(), ContainsSubstring("  CPU                      not measured\n"));
}

TEST_CASE("placement: on cold libraries the curves are the emulated machine's, and so are both crossings", "[cuda]") {
  NEED_EMULATOR();
  const TemporaryFolder folder;
  const std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const EmulatedTime time;
  // As opening a library takes more than the time limit, a limit that counted it would leave three points. Again where
  // other programs had the processor.
  const auto measured = [] {
    cuda::empty_cache();
    const Emulating cold("cold=1", "cold=0");
    return Placement{profile::machine(true, {.matmul = {20, 80},
                                             .elementwise = {1 << 10, 1 << 15},
                                             .copies = {1 << 10, 1 << 17},
                                             .convolution = {2, 4},
                                             .longest = 0.3})};
  };
  Placement place = measured();
  for (int i = 0;
       i < 20 && std::isnan(place.matmul(150, 150, 150).predicted.cuda + place.elementwise(40'000).predicted.copied);
       ++i)
    place = measured();
  setenv("XDG_CACHE_HOME", before.c_str(), 1);
  // The model in seconds: 1 us, 12 bytes an element at 100 bytes a ns, or 2 n^3 operations at 1000; copies 0.6 us, and
  // 5 and 2 bytes a ns. To the device `.cuda()` stages and sends at 10.
  const auto product = [](double n) { return 1e-6 + std::max(2 * n * n * n / 1e12, 12 * n * n / 1e11); };
  const auto sum = [](double n) { return 1e-6 + 12 * n / 1e11; };
  const auto copied = [](double n) { return 3 * 0.6e-6 + 2 * 4 * n / 1e10 + 4 * n / 2e9; };
  for (const Index n : {40, 75, 100, 150})
    CHECK(place.matmul(n, n, n).predicted.cuda == Approx(product(double(n))).epsilon(0.1));
  for (const Index n : {5'000, 10'000, 40'000}) {
    CHECK(place.elementwise(n).predicted.cuda == Approx(sum(double(n))).epsilon(0.1));
    CHECK(place.elementwise(n).predicted.copied == Approx(sum(double(n)) + copied(double(n))).epsilon(0.1));
  }
  // Against a CPU of round figures: where the times are equal.
  place.cpu_matmul = proportional(2e11);
  place.cpu_elementwise = proportional(1e12);
  const auto equal = [](auto&& gain) {
    double least = 1, most = 1e6;
    for (int i = 0; i < 100; ++i) {
      const double middle = (least + most) / 2;
      (gain(middle) > 0 ? most : least) = middle;
    }
    return most;
  };
  const auto products = place.matmul(100, 100, 100);
  CHECK(100 * products.there.grow ==
        Approx(equal([&](double n) { return 2 * n * n * n / 2e11 - product(n); })).epsilon(0.1));
  place.cpu_matmul = proportional(2e10);
  CHECK(100 * place.matmul(100, 100, 100).copying.grow ==
        Approx(equal([&](double n) { return 2 * n * n * n / 2e10 - product(n) - copied(n * n); })).epsilon(0.1));
  place.cpu_elementwise = proportional(1e9);
  CHECK(10'000 * place.elementwise(10'000).there.grow ==
        Approx(equal([&](double n) { return n / 1e9 - sum(n); })).epsilon(0.1));
  place.cpu_elementwise = proportional(2e8);
  CHECK(10'000 * place.elementwise(10'000).copying.grow ==
        Approx(equal([&](double n) { return n / 2e8 - sum(n) - copied(n); })).epsilon(0.1));
}

TEST_CASE("placement: the curves as a table") {
  Placement place = round_machine();
  place.cpu = "a CPU";
  place.cuda = "a GPU";
  place.cpu_matmul = {{{2e6, 2e-5}, {16e6, 1.6e-4}}};
  place.cuda_matmul = {{{2e6, 2e-7}}};
  place.copies[0][0] = {{{1000, 1e-7}, {2000, 2e-7}, {4000, 4e-7}}};
  CHECK_THAT(place.text(),
             ContainsSubstring("CPU: a CPU\nGPU: a GPU\nmatmul, n x n        CPU ms    GFLOP/s     GPU ms    GFLOP/s\n"
                               "100                  0.0200      100.0     0.0002    10000.0\n"
                               "200                  0.1600      100.0          -          -\n") &&
                 ContainsSubstring("copy, bytes       to device     pinned    to host     pinned  GB/s\n"
                                   "1000                  10.00      20.00       5.00      20.00\n"));
  place.why_not = "no card";
  CHECK_THAT(place.text(), ContainsSubstring("GPU: none: no card\n") && !ContainsSubstring("pinned"));
}

TEST_CASE("placement: an answer that is measured has the device's times", "[cuda]") {
  NEED_EMULATOR();
  const EmulatedTime time;
  const Placement place = round_machine();
  const profile::Prediction prediction = place.matmul(128, 128, 128, {.measured = true});
  CHECK(prediction.measured.cuda == exactly(5195e-9));
  CHECK(prediction.measured.copied == exactly(2 * (600 + 6554) * 1e-9 + 5195e-9 + (600 + 32768) * 1e-9));
  CHECK(prediction.measured.cpu > 0);
  CHECK(place.elementwise(8192, {.measured = true}).measured.cuda == exactly(1984e-9));
}

TEST_CASE("placement: what a question copies is accounted to the line that asks", "[cuda]") {
  const Placement place = round_machine();
  ledger::start();
  const int line = __LINE__ + 1;
  place.elementwise(4, {.measured = true});
  const auto lines = ledger::lines();
  ledger::stop();
  CHECK(lines.size() == 3);  // there, back, and the wait for that
  for (const ledger::Line& each : lines) CHECK(each.site == tern::detail::text({__FILE__, ":", line}));
}

TEST_CASE("placement: what cannot be answered is an Error") {
  const Placement place = round_machine();
  CHECK(error_of([&] { place.matmul(2, 0, 3); }) == "placement: sizes must be at least 1: 2, 0, 3");
  CHECK(error_of([&] { place.elementwise(-1); }) == "placement: sizes must be at least 1: -1");
  TERN_TEST_LINE(place.matmul(2, 0, 3));
  TERN_TEST_LINE(place.elementwise(-1));
  CHECK(error_of([&] { place.training_step([](auto) { return [] {}; }); }) ==
        "placement: the step does no work that is counted, so nothing predicts it");
}

}  // namespace profile_placement
