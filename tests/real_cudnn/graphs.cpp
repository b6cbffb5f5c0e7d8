// Asks cuDNN, without a GPU, for plans of the library's graphs on a card that a JSON file describes:
//   graphs CARD.json
// A line of its answers has the card, the graph, and whether cuDNN has a plan or refuses it; with TERN_REASONS also the
// engine and its workspace, or the reason.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tern/device/cuda/cudnn_attention.hpp"
#include "tern/device/cuda/cudnn_convolution.hpp"

namespace {
using namespace tern::cuda;
using tern::detail::ConvolutionPass;
using namespace tern::cuda::detail;

Descriptor described_device(const std::filesystem::path& file) {
  std::ostringstream json;
  json << std::ifstream(file).rdbuf();
  Descriptor device(cudnn_device_properties);
  device.set(cudnn_device_json, CudnnAttributeType::character, json.str().c_str(), json.str().size());
  if (const std::string reason = device.finish(); !reason.empty()) throw std::runtime_error(reason);
  return device;
}

struct Case {
  std::string name;
  AttentionForm form;
};

using Strides = std::int64_t[3];
void lay(Strides& to, std::int64_t batch, std::int64_t head, std::int64_t position) {
  to[0] = batch, to[1] = head, to[2] = position;
}

enum class Layout { heads_first, transposed, packed };

/// A form whose tensors are dense [b, h, n, d], or dense [b, n, h, d] transposed, or parts of a projection [b, n, 3, h,
/// d].
AttentionForm sizes(Layout layout, std::int64_t b, std::int64_t h, std::int64_t shared, std::int64_t m, std::int64_t n,
                    std::int64_t d) {
  AttentionForm f{.type = cudnn_bfloat16,
                  .scale = 0.125,
                  .batch = b,
                  .heads = h,
                  .shared_heads = shared,
                  .queries = m,
                  .keys = n,
                  .size = d,
                  .width = d};
  const auto set = [&](Strides& to, std::int64_t heads, std::int64_t length, bool part) {
    const std::int64_t row = layout == Layout::packed && part ? (h + 2 * shared) * d : heads * d;
    if (layout == Layout::heads_first) lay(to, heads * length * d, length * d, d);
    else lay(to, length * row, d, row);
  };
  set(f.q, h, m, true), set(f.k, shared, n, true), set(f.v, shared, n, true), set(f.out, h, m, false);
  set(f.dq, h, m, false), set(f.dk, shared, n, false), set(f.dv, shared, n, false);
  return f;
}

void with_bias(AttentionForm& f, AttentionBias kind, std::int64_t b, std::int64_t h, std::int64_t m) {
  f.has_bias = kind;
  f.bias_sizes[0] = b, f.bias_sizes[1] = h, f.bias_sizes[2] = m;
  lay(f.bias, h * m * f.keys, m * f.keys, f.keys);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  struct Shape {
    const char* name;
    AttentionForm form;
  };
  const Shape shapes[] = {{"2048 x 64", sizes(Layout::heads_first, 4, 16, 16, 2048, 2048, 64)},
                          {"packed 197 x 64", sizes(Layout::packed, 64, 12, 12, 197, 197, 64)},
                          {"grouped 333 x 128", sizes(Layout::transposed, 2, 16, 4, 333, 333, 128)},
                          {"7 of 333 x 40", sizes(Layout::heads_first, 2, 3, 3, 7, 333, 40)},
                          {"1 of 64 x 256", sizes(Layout::heads_first, 2, 4, 4, 1, 64, 256)}};
  for (const auto& [name, form] : shapes) {
    const auto add = [&, name = name, form = form](const char* what, const auto& change) {
      AttentionForm f = form;
      change(f);
      all.push_back({std::string(name) + ", " + what, f});
    };
    const std::int64_t h = form.heads, b = form.batch, m = form.queries;
    const auto backward = [](AttentionForm& f) { f.statistics = f.backward = true; };
    const auto same = [&](AttentionForm& f) { backward(f), f.deterministic = true; };
    add("forward", [](AttentionForm&) {});
    add("forward, f16, causal, statistics",
        [](AttentionForm& f) { f.type = cudnn_half, f.causal = f.statistics = true; });
    add("forward, causal, dropout, statistics",
        [](AttentionForm& f) { f.causal = f.statistics = true, f.dropout = 0.1; });
    add("forward, bias [b, 1, 1, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, b, 1, 1); });
    add("forward, bias [1, h, m, n], dropout, statistics",
        [&](AttentionForm& f) { with_bias(f, AttentionBias::added, 1, h, m), f.dropout = 0.1, f.statistics = true; });
    add("backward", backward);
    add("backward, f16, causal, dropout",
        [&](AttentionForm& f) { backward(f), f.type = cudnn_half, f.causal = true, f.dropout = 0.1; });
    add("backward, bias [b, 1, 1, n]",
        [&](AttentionForm& f) { backward(f), with_bias(f, AttentionBias::added, b, 1, 1); });
    add("backward, bias and its gradient [1, h, m, n], dropout",
        [&](AttentionForm& f) { backward(f), with_bias(f, AttentionBias::with_gradient, 1, h, m), f.dropout = 0.1; });
    add("backward, bias and its gradient [b, 1, m, n]",
        [&](AttentionForm& f) { backward(f), with_bias(f, AttentionBias::with_gradient, b, 1, m); });
    add("deterministic backward, causal", [&](AttentionForm& f) { same(f), f.causal = true; });
    add("deterministic backward, dropout", [&](AttentionForm& f) { same(f), f.dropout = 0.1; });
    add("deterministic backward, bias and its gradient [b, h, m, n]",
        [&](AttentionForm& f) { same(f), with_bias(f, AttentionBias::with_gradient, b, h, m); });
  }
  return all;
}

/// A convolution of square images, and what follows it, in every pass that the library runs.
struct Layer {
  const char* name;
  int images, channels, size, filters, filter, stride, padding, groups;
};
constexpr Layer layers[] = {{"3 of 16 to 16 channels of 32 x 32", 128, 16, 32, 16, 3, 1, 1, 1},
                            {"7 of 3 to 64 of 224 x 224, every second", 64, 3, 224, 64, 7, 2, 3, 1},
                            {"1 of 256 to 64 of 56 x 56", 64, 256, 56, 64, 1, 1, 0, 1},
                            {"3 of 32 to 32 of 56 x 56, one by one", 64, 32, 56, 32, 3, 1, 1, 32},
                            {"3 of 5 to 7 of 9 x 9", 2, 5, 9, 7, 3, 1, 1, 1}};

ConvolutionForm form_of(const Layer& l, ConvolutionPass pass, CudnnType type) {
  const int out = (l.size + 2 * l.padding - l.filter) / l.stride + 1;
  return {.pass = pass,
          .type = type,
          .bias = false,
          .addend = false,
          .relu = false,
          .exact = false,
          .deterministic = false,
          .alignment = 16,
          .dims = 4,
          .x = {l.images, l.channels, l.size, l.size, 1},
          .w = {l.filters, l.channels / l.groups, l.filter, l.filter, 1},
          .y = {l.images, l.filters, out, out, 1},
          .padding = {l.padding, l.padding, l.padding},
          .stride = {l.stride, l.stride, l.stride},
          .dilation = {1, 1, 1}};
}

template <class F>
void each_convolution(const F& f) {
  constexpr std::pair<const char*, CudnnType> types[] = {
      {"float", cudnn_float}, {"double", cudnn_double}, {"bfloat16", cudnn_bfloat16}, {"half", cudnn_half}};
  for (const Layer& layer : layers)
    for (const auto& [type_name, type] : types) {
      const auto add = [&](const char* what, ConvolutionPass pass, const auto& change) {
        ConvolutionForm form = form_of(layer, pass, type);
        change(form);
        f(std::string("convolution by ") + layer.name + ", " + type_name + ", " + what, form);
      };
      const auto as_it_is = [](ConvolutionForm&) {};
      add("forward", ConvolutionPass::forward, as_it_is);
      add("data gradient", ConvolutionPass::data_gradient, as_it_is);
      add("deterministic weight gradient", ConvolutionPass::weight_gradient,
          [](ConvolutionForm& form) { form.deterministic = true; });
      if (type == cudnn_double) continue;
      add("with bias and relu", ConvolutionPass::forward, [](ConvolutionForm& form) { form.bias = form.relu = true; });
      add("with bias, residual and relu", ConvolutionPass::forward,
          [](ConvolutionForm& form) { form.bias = form.addend = form.relu = true; });
      if (type == cudnn_float)
        add("forward, exact", ConvolutionPass::forward, [](ConvolutionForm& form) { form.exact = true; });
    }
}

}  // namespace

int main(int count, char** files) {
  if (count != 2) return 2;
  const std::filesystem::path file = files[1];
  const bool reasons = std::getenv("TERN_REASONS");
  const Descriptor device = described_device(file);
  const auto ask = [&](const std::string& name, const auto& form) {
    const GraphPlan plan(form.graph(), {.device = &device}, form.rules());
    std::printf("%s: %s: %s", file.stem().c_str(), name.c_str(), plan.is_refused() ? "refused" : "a plan");
    if (reasons && plan.is_refused()) std::printf(": %s", plan.refusal().c_str());
    if (reasons && !plan.is_refused())
      std::printf(" of engine %d, %zu bytes", int(plan.engine()), plan.workspace_bytes());
    std::puts("");
    std::fflush(stdout);
  };
  for (const auto& [name, form] : cases()) ask(name, form);
  each_convolution(ask);
}
