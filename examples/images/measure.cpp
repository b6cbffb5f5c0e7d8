#include "pictures.hpp"

#include <tern/cuda.hpp>
#include <tern/ops/ops.hpp>

#include <algorithm>

#include "measure.hpp"
#include "support/ranks.hpp"
#include "support/seconds.hpp"

namespace {

/// The time in which that part of the passes ends, in ms: the nearest rank of times in rising order.
double percentile(const std::vector<double>& seconds, double part) {
  const double rank = std::ceil(part * double(seconds.size()));
  return 1e3 * seconds[std::size_t(std::max(rank, 1.0)) - 1];
}

/// The times of 100 passes with one picture each, from host memory to scores there, in rising order.
template <Device D>
std::vector<double> latencies(Network<D>& net, const Pictures& set, const ImageOptions& options) {
  constexpr Index passes = 100, first_passes = 5;  // the first ones make buffers and kernels
  const PicturePlan plan = plan_of(options);
  const auto pictures = for_test(set, plan);
  std::vector<double> seconds;
  for (Index i = -first_passes; i < passes; ++i) {
    const Index sample = (i + first_passes) % set.size();
    const auto [image, label] = pictures.batch({&sample, 1});
    const double begin = support::now();
    net.scores(image.to(D{})).cpu();
    if (i >= 0) seconds.push_back(support::now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

std::string accuracy_text(const Accuracy& accuracy) {
  char line[80];
  std::snprintf(line, sizeof line, "top-1 %.2f%%, top-5 %.2f%%", 100 * accuracy.top1, 100 * accuracy.top5);
  return line;
}

template <Device D>
Accuracy measure(Network<D>& net, const Pictures& set, const ImageOptions& options) {
  const InferenceMode inference;
  nn::set_training(net.module(), false);
  auto batches = data::loader<D>(for_test(set, plan_of(options)),
                                 {.batch_size = options.batch_size, .num_workers = int(options.workers)},
                                 support::test_part(set.size(), net.replicas()));
  const double begin = support::now();
  auto first = zeros<D>({}), among_five = zeros<D>({});
  for (auto& [images, labels] : batches) {
    const Tensor<D> scores = net.scores(images);
    const auto likeliest = topk(scores, std::min<Index>(5, scores.size(1)), 1).indices;
    const auto right = (likeliest == labels.unsqueeze(1)).to(f32);
    first += right.select(1, 0).sum();
    among_five += right.sum();
  }
  double right[] = {double(first.item()), double(among_five.item())};
  net.replicas().sum(right, 2);
  const double n = double(set.size());
  return {right[0] / n, right[1] / n, support::now() - begin, batches.seconds_waited()};
}

template <Device D>
std::string speed_text(Network<D>& net, const Pictures& set, const ImageOptions& options) {
  const InferenceMode inference;
  nn::set_training(net.module(), false);
  const std::vector<double> seconds = latencies(net, set, options);
  const Accuracy accuracy = measure(net, set, options);
  char lines[240];
  std::snprintf(lines, sizeof lines,
                "test: %s\n%.1f images/s in batches of %lld, %.0f%% of the time waiting for pictures to be read\n"
                "latency of one picture: 50%% within %.2f ms, 90%% within %.2f ms, 99%% within %.2f ms\n",
                accuracy_text(accuracy).c_str(), double(set.size()) / accuracy.seconds, (long long)options.batch_size,
                100 * accuracy.waited / accuracy.seconds, percentile(seconds, 0.5), percentile(seconds, 0.9),
                percentile(seconds, 0.99));
  return lines;
}

template Accuracy measure(Network<Cpu>&, const Pictures&, const ImageOptions&);
template std::string speed_text(Network<Cpu>&, const Pictures&, const ImageOptions&);
#ifndef TERN_CPU_ONLY
template Accuracy measure(Network<Cuda>&, const Pictures&, const ImageOptions&);
template std::string speed_text(Network<Cuda>&, const Pictures&, const ImageOptions&);
#endif
