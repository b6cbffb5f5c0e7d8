// How many images a second networks train on and classify, on synthetic images: each model with each batch size, number
// of threads, kind of work and element type. ./examples/run image_models --help lists the options.
#include <tern/io/file.hpp>
#include <tern/io/json.hpp>
#include <tern/models/models.hpp>
#include <tern/nn/mixed.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/profile/flops.hpp>
#include <tern/tensor/with_device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "support/seconds.hpp"

using namespace tern;

struct Options {
  std::vector<std::string> models = {"resnet50"}, modes = {"train", "infer"}, precisions = {"f32"};
  std::vector<Index> batches = {8}, threads = {get_num_threads()};
  std::string device = "cpu", csv, json, svg;
  double seconds = 2, price = 0;
};

/// One measurement.
struct Row {
  std::string model, mode, precision, device;
  Index batch;
  int threads;
  std::vector<double> seconds;  // of each step, in ascending order
  double flops, peak_share;     // of a step, the fastest one; peak_share: of the device's measured peak in float
  Index memory;                 // bytes, at the most
  double images_per_second() const { return double(batch) / seconds[0]; }
  /// The seconds that so many hundredths of the steps take at most.
  double percentile(std::size_t p) const { return seconds[(p * seconds.size() + 99) / 100 - 1]; }
  double images_per_dollar(double price) const { return images_per_second() * 3600 / price; }
};

void wait_for(Cpu) {}
void reset_peak(Cpu) { detail::memory::reset_peak(); }
Index peak_memory(Cpu) { return detail::memory::stats().peak; }

/// Floating-point operations a second at best: chains of multiply-adds on the host, a large product on a GPU.
double peak_flops(Cpu) { return profile::peak_flops(); }

#ifndef TERN_CPU_ONLY
void wait_for(Cuda) { cuda::synchronize(); }
void reset_peak(Cuda) { cuda::reset_peak_memory_stats(); }
Index peak_memory(Cuda) { return cuda::memory_stats().peak; }

double peak_flops(Cuda) {
  double best = 0, seconds = 0;
  for (Index n = 256; n <= 4096 && seconds < 0.1; n *= 2) {  // until a product takes long
    const auto a = randn<Cuda>({n, n}), b = randn<Cuda>({n, n});
    for (int i = 0; i < 5; ++i) {
      cuda::synchronize();
      const double start = support::now();
      matmul(a, b);
      cuda::synchronize();
      seconds = support::now() - start;
      best = std::max(best, 2.0 * double(n * n * n) / seconds);
    }
  }
  return best;
}
#endif

/// The seconds of steps, at least two and as many as fit, after one that does not count, and the operations of one.
template <Device D, class Step>
void measure(Row& row, double seconds, const Step& step) {
  step();
  wait_for(D{});
  reset_peak(D{});
  const double begin = support::now();
  for (int i = 0; i < 2 || support::now() - begin < seconds; ++i) {
    const double before = profile::flops(), start = support::now();
    step();
    wait_for(D{});
    row.seconds.push_back(support::now() - start);
    row.flops = profile::flops() - before;
  }
  std::sort(row.seconds.begin(), row.seconds.end());
  row.memory = peak_memory(D{});
}

template <Device D, class Net>
void measure_net(Net net, Index side, Row& row, double seconds) {
  const auto images = randn<D, typename Net::value_type>({row.batch, 3, side, side}).contiguous(channels_last);
  if (row.mode == "infer") {
    const InferenceMode inference;
    net.eval();
    return measure<D>(row, seconds, [&] { net(images); });
  }
  const auto labels = randint<D>(1000, {row.batch});
  optim::SGD optimizer(net.parameters(), {.lr = 1e-3, .momentum = 0.9});
  measure<D>(row, seconds, [&] {
    optimizer.zero_grad();
    cross_entropy(net(images), labels).backward();
    optimizer.step();
  });
}

/// in_precision makes the network that is measured of a float one.
template <Device D, class Precision>
void measure_model(Row& row, double seconds, const Precision& in_precision) {
  const auto& name = row.model;
  if (name == "alexnet") return measure_net<D>(in_precision(models::alexnet<D>()), 224, row, seconds);
  if (name == "vgg16") return measure_net<D>(in_precision(models::vgg16<D>()), 224, row, seconds);
  if (name == "resnet18") return measure_net<D>(in_precision(models::resnet18<D>()), 224, row, seconds);
  if (name == "resnet50") return measure_net<D>(in_precision(models::resnet50<D>()), 224, row, seconds);
  if (name == "googlenet") return measure_net<D>(in_precision(models::googlenet<D>()), 224, row, seconds);
  if (name == "mobilenet_v2") return measure_net<D>(in_precision(models::mobilenet_v2<D>()), 224, row, seconds);
  if (name == "inception_v3") return measure_net<D>(in_precision(models::inception_v3<D>()), 299, row, seconds);
  measure_net<D>(in_precision(models::xception<D>()), 299, row, seconds);
}

const std::vector<std::string> all_models = {"alexnet",   "vgg16",        "resnet18",     "resnet50",
                                             "googlenet", "mobilenet_v2", "inception_v3", "xception"};

template <Device D>
std::vector<Row> measure_all(const Options& options) {
  std::vector<Row> rows;
  std::printf("%-13s %-6s %-12s %6s %8s %10s %10s %9s %9s%s\n", "model", "work", "type", "batch", "threads", "images/s",
              "GFLOP/s", "of peak", "MB", options.price > 0 ? "   images/$" : "");
  for (const Index threads : options.threads) {
    set_num_threads(int(threads));
    const double peak = peak_flops(D{});
    for (const auto& model : options.models)
      for (const auto& mode : options.modes)
        for (const auto& precision : options.precisions)
          for (const Index batch : options.batches) {
            Row row{model, mode, precision, DeviceTraits<D>::name, batch, get_num_threads(), {}, 0, 0, 0};
            if (precision == "bf16")
              measure_model<D>(row, options.seconds, [](const auto& net) { return nn::mixed<bfloat16>(net); });
            else if (precision == "bf16-weights")
              measure_model<D>(row, options.seconds, [](const auto& net) { return net.to(bf16); });
            else measure_model<D>(row, options.seconds, [](auto net) { return net; });
            row.peak_share = row.flops / row.seconds[0] / peak;
            std::printf("%-13s %-6s %-12s %6lld %8d %10.1f %10.1f %8.0f%% %9.0f", model.c_str(), mode.c_str(),
                        precision.c_str(), (long long)batch, row.threads, row.images_per_second(),
                        row.flops / row.seconds[0] / 1e9, 100 * row.peak_share, double(row.memory) / 1e6);
            if (options.price > 0) std::printf(" %10.0f", row.images_per_dollar(options.price));
            std::printf("\n");
            std::fflush(stdout);
            rows.push_back(row);
          }
  }
  return rows;
}

std::string as_csv(const std::vector<Row>& rows, double price) {
  std::string out =
      "model,work,type,device,batch,threads,images_per_second,gflops,peak_share,peak_bytes,images_per_dollar\n";
  char line[256];
  for (const Row& r : rows) {
    std::snprintf(line, sizeof line, "%s,%s,%s,%s,%lld,%d,%.3f,%.3f,%.4f,%lld,", r.model.c_str(), r.mode.c_str(),
                  r.precision.c_str(), r.device.c_str(), (long long)r.batch, r.threads, r.images_per_second(),
                  r.flops / r.seconds[0] / 1e9, r.peak_share, (long long)r.memory);
    out += line;
    if (price > 0) out += io::json_number(r.images_per_dollar(price));
    out += '\n';
  }
  return out;
}

std::string as_json(const std::vector<Row>& rows, double price) {
  io::Json json;
  json.array();
  for (const Row& r : rows) {
    json.object();
    json.member("model", r.model), json.member("work", r.mode), json.member("type", r.precision);
    json.member("device", r.device), json.member("batch", r.batch), json.member("threads", r.threads);
    json.member("images_per_second", r.images_per_second()), json.member("gflops", r.flops / r.seconds[0] / 1e9);
    json.member("peak_share", r.peak_share), json.member("peak_bytes", r.memory),
        json.member("steps", Index(r.seconds.size()));
    json.member("p50_seconds", r.percentile(50)), json.member("p90_seconds", r.percentile(90)),
        json.member("p99_seconds", r.percentile(99));
    if (price > 0) json.member("images_per_dollar", r.images_per_dollar(price));
    json.end();
  }
  json.end();
  return json.text() + "\n";
}

/// A bar for each row, as long as it does images a second.
std::string as_svg(const std::vector<Row>& rows) {
  double most = 0;
  for (const Row& r : rows) most = std::max(most, r.images_per_second());
  char line[512];
  std::snprintf(
      line, sizeof line,
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 820 %d' font-family='sans-serif' font-size='13'>\n"
      "<rect width='820' height='%d' fill='white'/>\n<text x='20' y='28' font-size='16'>Images a second</text>\n",
      60 + 24 * int(rows.size()), 60 + 24 * int(rows.size()));
  std::string out = line;
  int y = 48;
  for (const Row& r : rows) {
    const double width = 420 * r.images_per_second() / most;
    std::snprintf(line, sizeof line,
                  "<text x='300' y='%d' text-anchor='end'>%s, %s, %s, batch %lld, %d threads</text>"
                  "<rect x='308' y='%d' width='%.1f' height='16' fill='%s'/><text x='%.1f' y='%d'>%.1f</text>\n",
                  y + 13, r.model.c_str(), r.mode.c_str(), r.precision.c_str(), (long long)r.batch, r.threads, y, width,
                  r.mode == "train" ? "#0072b2" : "#009e73", 314 + width, y + 13, r.images_per_second());
    out += line;
    y += 24;
  }
  return out + "</svg>\n";
}

/// The parts of a list, a,b,c, each of which must be one of those offered.
std::vector<std::string> list(const char* option, const std::string& value, const std::vector<std::string>& offered) {
  if (value == "all") return offered;
  std::vector<std::string> parts = {""};
  for (const char c : value)
    if (c == ',') parts.emplace_back();
    else parts.back() += c;
  for (const std::string& part : parts)
    if (std::find(offered.begin(), offered.end(), part) == offered.end())
      throw std::runtime_error(std::string("image_models: ") + option + " has no '" + part + "'; see --help");
  return parts;
}
std::vector<Index> numbers(const char* option, const std::string& value) {
  std::vector<Index> parts;
  for (const char* at = value.c_str(); *at;) {
    char* end = nullptr;
    const long long number = std::strtoll(at, &end, 10);
    if (end == at || number < 1 || (*end && *end != ',') || (*end == ',' && !end[1]))
      throw std::runtime_error(std::string("image_models: ") + option + " wants numbers from 1 on: 8,16; not '" +
                               value + "'");
    parts.push_back(number);
    at = *end ? end + 1 : end;
  }
  return parts;
}
double number(const char* option, const char* value) {
  char* end = nullptr;
  const double result = std::strtod(value, &end);
  if (end == value || *end || !(result >= 0))
    throw std::runtime_error(std::string("image_models: ") + option + " needs a number, not '" + value + "'");
  return result;
}

constexpr const char* help =
    "usage: image_models [options]; lists are separated by commas, `all` is everything\n"
    "  --model LIST       alexnet vgg16 resnet18 resnet50 googlenet mobilenet_v2 inception_v3 xception (resnet50)\n"
    "  --work LIST        train infer (all)\n"
    "  --precision LIST   f32, bf16 with float parameters, bf16-weights (f32)\n"
    "  --batch-size LIST  (8)\n"
    "  --threads LIST     (as many as there are)\n"
    "  --device NAME      cpu, cuda, cuda:1 … or auto (cpu)\n"
    "  --seconds S        how long each row is measured at least (2)\n"
    "  --price DOLLARS    of the machine for an hour: adds images a dollar\n"
    "  --csv FILE  --json FILE  --svg FILE\n";

int main(int argc, char** argv) try {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const char* const name = argv[i];
    if (!std::strcmp(name, "--help") || !std::strcmp(name, "-h")) return std::fputs(help, stdout), 0;
    if (i + 1 == argc) throw std::runtime_error(std::string("image_models: ") + name + " needs a value; see --help");
    const char* const value = argv[i + 1];
    const auto is = [&](const char* option) { return !std::strcmp(name, option); };
    if (is("--model")) o.models = list(name, value, all_models);
    else if (is("--work")) o.modes = list(name, value, {"train", "infer"});
    else if (is("--precision")) o.precisions = list(name, value, {"f32", "bf16", "bf16-weights"});
    else if (is("--batch-size")) o.batches = numbers(name, value);
    else if (is("--threads")) o.threads = numbers(name, value);
    else if (is("--device")) o.device = value;
    else if (is("--seconds")) o.seconds = number(name, value);
    else if (is("--price")) o.price = number(name, value);
    else if (is("--csv")) o.csv = value;
    else if (is("--json")) o.json = value;
    else if (is("--svg")) o.svg = value;
    else throw std::runtime_error(std::string("image_models: unknown option ") + name + "; see --help");
  }
  std::printf("%s, synthetic images; GFLOP/s without padding, of the peak in float that is measured here\n",
              build_info().instruction_set);
  const auto rows = with_device(o.device, [&]<Device D>(D) { return measure_all<D>(o); });
  if (!o.csv.empty()) io::write_file_atomically(o.csv, as_csv(rows, o.price));
  if (!o.json.empty()) io::write_file_atomically(o.json, as_json(rows, o.price));
  if (!o.svg.empty()) io::write_file_atomically(o.svg, as_svg(rows));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
