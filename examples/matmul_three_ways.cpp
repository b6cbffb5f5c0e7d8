// Is a matrix product worth moving to the GPU? Three ways, timed: on the CPU, on the GPU, and on the GPU with both
// matrices copied there and the result copied back every time.
// ./benchmarks/run matmul_transfer [--threads N] [--largest N] [--svg FILE] [--json FILE]
#include <tern/io/file.hpp>
#include <tern/io/json.hpp>
#include <tern/tern.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "support/seconds.hpp"

using namespace tern;

/// Seconds that one of many products takes: the least over rounds for 0.3 s, at least one. run(times) does so many and
/// waits for them; the one before the first round compiles what there is to compile.
template <class Run>
double seconds_each(const Run& run) {
  const auto measure = [&](int times) {
    const double start = support::now();
    run(times);
    return (support::now() - start) / times;
  };
  run(1);
  const double end = support::now() + 0.3;
  double least = measure(1);
  while (support::now() < end) least = std::min(least, measure(1 + int(0.002 / least)));
  return least;
}

double on_cpu(Index n) {
  const auto a = randn<Cpu>({n, n}), b = randn<Cpu>({n, n});
  return seconds_each([&](int times) {
    while (times-- > 0) matmul(a, b);
  });
}

double on_gpu(Index n) {
  const auto a = randn<Cuda>({n, n}), b = randn<Cuda>({n, n});
  return seconds_each([&](int times) {
    while (times-- > 0) matmul(a, b);
    cuda::synchronize();
  });
}

double copied_every_time(Index n) {
  const auto a = randn<Cpu>({n, n}), b = randn<Cpu>({n, n});
  return seconds_each([&](int times) {
    while (times-- > 0) matmul(a.cuda(), b.cuda()).cpu();
  });
}

struct Way {
  const char *name, *colour;
  double (*measure)(Index n);
};
constexpr Way ways[] = {
    {"CPU", "#0072b2", on_cpu}, {"GPU", "#009e73", on_gpu}, {"GPU with copies", "#d55e00", copied_every_time}};

/// The seconds of each way at one size; NaN where it was not measured.
struct Row {
  Index n;
  std::array<double, 3> seconds;
};

/// Measures one size and prints it. A way is left out where a product would take more seconds than `longest`, judged by
/// the size before.
Row measure(Index n, const Row& before) {
  constexpr double longest = 10;
  Row row{n, {NAN, NAN, NAN}};
  std::printf("%6lld", (long long)n);
  for (std::size_t i = 0; i < (cuda::is_available() ? 3 : 1); ++i) {
    const bool too_long = !(before.seconds[i] * std::pow(double(n) / double(before.n), 3) <= longest);
    if (!too_long) row.seconds[i] = ways[i].measure(n);
  }
  for (const double s : row.seconds) {
    if (std::isnan(s)) std::printf("%19s", "-");
    else if (s < 1e-3) std::printf("%16.1f us", 1e6 * s);
    else if (s < 1) std::printf("%16.2f ms", 1e3 * s);
    else std::printf("%16.2f s ", s);
  }
  std::printf("\n");
  std::fflush(stdout);
  return row;
}

/// From which size on a way beats the CPU.
void print_crossing(const std::vector<Row>& rows, std::size_t way) {
  Index from = 0;
  for (const Row& row : rows) {
    if (std::isnan(row.seconds[0]) || std::isnan(row.seconds[way])) continue;
    if (row.seconds[way] >= row.seconds[0]) from = 0;
    else if (!from) from = row.n;
  }
  if (from) std::printf("%s: faster than the CPU from n = %lld on.\n", ways[way].name, (long long)from);
  else std::printf("%s: faster than the CPU at no size that both were measured at.\n", ways[way].name);
}

/// Draws the times over n, both on logarithmic scales.
void draw(const char* path, const std::vector<Row>& rows) {
  std::FILE* const file = std::fopen(path, "w");
  if (!file) throw std::runtime_error(std::string("cannot write ") + path);
  constexpr int left = 80, right = 640, bottom = 420, column = 70, decade = 50;  // pixels; bottom: a microsecond
  const auto x = [](Index n) { return left + column * (std::log2(double(n)) - 5); };
  const auto y = [](double seconds) { return bottom - decade * std::log10(1e6 * seconds); };
  std::fprintf(
      file,
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 700 480' font-family='sans-serif' font-size='13'>\n"
      "<rect width='700' height='480' fill='white'/>\n"
      "<text x='%d' y='30' font-size='16'>The product of two n × n matrices of floats</text>\n",
      left);
  int line = bottom;
  for (const char* const time : {"1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"}) {
    std::fprintf(file, "<path d='M%d %d H%d' stroke='#ddd'/>", left, line, right);
    std::fprintf(file, "<text x='%d' y='%d' text-anchor='end'>%s</text>\n", left - 8, line + 4, time);
    line -= decade;
  }
  for (const Row& row : rows)
    std::fprintf(file, "<text x='%g' y='%d' text-anchor='middle'>%lld</text>\n", x(row.n), bottom + 22,
                 (long long)row.n);
  int legend = 90;
  for (std::size_t i = 0; i < 3; ++i) {
    std::fprintf(file, "<polyline fill='none' stroke='%s' stroke-width='2' points='", ways[i].colour);
    bool measured = false;
    for (const Row& row : rows) {
      if (std::isnan(row.seconds[i])) continue;
      std::fprintf(file, "%.1f,%.1f ", x(row.n), y(row.seconds[i]));
      measured = true;
    }
    std::fprintf(file, "'/>\n<text x='%d' y='%d' fill='%s'>%s%s</text>\n", left + 20, legend, ways[i].colour,
                 ways[i].name, measured ? "" : ": not measured");
    legend += 20;
  }
  std::fprintf(file, "</svg>\n");
  if (std::fclose(file) != 0) throw std::runtime_error(std::string("cannot write ") + path);
}

std::string as_json(const std::vector<Row>& rows) {
  io::Json json;
  json.array();
  for (const Row& row : rows) {
    json.object();
    json.member("n", row.n), json.member("cpu", row.seconds[0]), json.member("cuda", row.seconds[1]),
        json.member("copied", row.seconds[2]);
    json.end();
  }
  json.end();
  return json.text() + "\n";
}

int main(int argc, char** argv) try {
  const char *svg = nullptr, *json = nullptr;
  Index largest = 8192;
  for (int i = 1; i < argc; i += 2) {
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (!std::strcmp(argv[i], "--svg") && *value) svg = value;
    else if (!std::strcmp(argv[i], "--json") && *value) json = value;
    else if (!std::strcmp(argv[i], "--largest") && std::atoi(value) >= 32) largest = std::atoi(value);
    else if (!std::strcmp(argv[i], "--threads") && std::atoi(value) > 0) set_num_threads(std::atoi(value));
    else throw std::runtime_error("usage: matmul_three_ways [--threads N] [--largest N] [--svg FILE] [--json FILE]");
  }
  std::printf("n x n matrices of floats; CPU: %s, threads: %d; GPU: %s\n", build_info().instruction_set,
              get_num_threads(), cuda::is_available() ? cuda::device_info().name.c_str() : "none");
  std::printf("%6s%19s%19s%19s\n", "n", ways[0].name, ways[1].name, ways[2].name);
  const Row start{32, {0, 0, 0}};
  const Row small = measure(200, start);
  std::printf("\n");
  std::vector<Row> rows;
  for (Index n = 32; n <= largest; n *= 2) rows.push_back(measure(n, rows.empty() ? start : rows.back()));
  std::printf("\n");
  if (!cuda::is_available()) std::printf("The GPU's columns are empty: %s.\n", cuda::why_not().c_str());
  else
    for (const std::size_t way : {1u, 2u}) print_crossing(rows, way);
  if (svg) draw(svg, rows);
  if (!json) return 0;
  rows.insert(std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.n > small.n; }), small);
  io::write_file_atomically(json, as_json(rows));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
