// Asks cuDNN, without a GPU, for plans of the library's graphs on cards that JSON files describe, and prints its answers:
//   graphs CARD.json...
// A line has the card, the graph, and the engine and the bytes of workspace, or that cuDNN refuses it. With TERN_REASONS it
// says why.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tern/device/cuda/cudnn_attention.hpp"

namespace {
using namespace tern::cuda;
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
void lay(Strides& to, std::int64_t batch, std::int64_t head, std::int64_t position) { to[0] = batch, to[1] = head, to[2] = position; }

enum class Layout { heads_first, transposed, packed };

/// A form whose tensors are dense [b, h, n, d], or dense [b, n, h, d] transposed, or parts of a projection [b, n, 3, h, d].
AttentionForm sizes(Layout layout, std::int64_t b, std::int64_t h, std::int64_t shared, std::int64_t m, std::int64_t n, std::int64_t d) {
  AttentionForm f{.type = cudnn_bfloat16, .scale = 0.125, .batch = b, .heads = h, .shared_heads = shared, .queries = m, .keys = n, .size = d, .width = d};
  const auto set = [&](Strides& to, std::int64_t heads, std::int64_t length, bool part) {
    const std::int64_t row = layout == Layout::packed && part ? (h + 2 * shared) * d : heads * d;
    if (layout == Layout::heads_first) lay(to, heads * length * d, length * d, d);
    else lay(to, length * row, d, row);
  };
  set(f.q, h, m, true), set(f.k, shared, n, true), set(f.v, shared, n, true), set(f.out, h, m, false);
  set(f.dq, h, m, false), set(f.dk, shared, n, false), set(f.dv, shared, n, false);
  return f;
}

void with_bias(AttentionForm& f, AttentionBias kind, std::int64_t b, std::int64_t h, std::int64_t m, std::int64_t row) {
  f.has_bias = kind;
  f.bias_sizes[0] = b, f.bias_sizes[1] = h, f.bias_sizes[2] = m;
  lay(f.bias, h * m * row, m * row, row);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  struct Shape {
    const char* name;
    AttentionForm form;
  };
  const Shape shapes[] = {{"2048x64", sizes(Layout::heads_first, 4, 16, 16, 2048, 2048, 64)},
                          {"packed 1024x64", sizes(Layout::packed, 8, 12, 12, 1024, 1024, 64)},
                          {"packed 197x64", sizes(Layout::packed, 64, 12, 12, 197, 197, 64)},
                          {"transposed 333x128", sizes(Layout::transposed, 2, 4, 4, 333, 333, 128)},
                          {"grouped 512x128", sizes(Layout::heads_first, 2, 16, 4, 512, 512, 128)},
                          {"40 wide, 7 of 333", sizes(Layout::heads_first, 2, 3, 3, 7, 333, 40)},
                          {"256 wide", sizes(Layout::heads_first, 2, 4, 4, 256, 256, 256)},
                          {"1 of 64", sizes(Layout::heads_first, 2, 4, 4, 1, 64, 64)},
                          {"64 of 1", sizes(Layout::heads_first, 2, 4, 4, 64, 1, 64)},
                          {"1 of 1", sizes(Layout::heads_first, 2, 4, 4, 1, 1, 64)},
                          {"36 wide", sizes(Layout::heads_first, 2, 4, 4, 64, 64, 36)}};
  for (const auto& [name, form] : shapes)
    for (const int pass : {0, 1, 2, 3}) {
      constexpr const char* passes[] = {"forward", "forward with statistics", "backward", "deterministic backward"};
      const auto add = [&](const std::string& what, const auto& change) {
        AttentionForm f = form;
        f.statistics = pass > 0, f.backward = pass > 1, f.deterministic = pass == 3;
        change(f);
        all.push_back({std::string(name) + ", " + passes[pass] + what, f});
      };
      const std::int64_t row = (form.keys + 7) / 8 * 8;
      add("", [](AttentionForm&) {});
      add(", f16", [](AttentionForm& f) { f.type = cudnn_half; });
      add(", causal", [](AttentionForm& f) { f.causal = true; });
      add(", dropout", [](AttentionForm& f) { f.dropout = 0.1; });
      add(", causal, dropout", [](AttentionForm& f) { f.causal = true, f.dropout = 0.1; });
      add(", bias [b, h, m, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, f.batch, f.heads, f.queries, f.keys); });
      add(", bias [1, 1, m, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, 1, 1, f.queries, f.keys); });
      add(", bias [1, 1, m, n] in rows of 8", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, 1, 1, f.queries, row); });
      add(", bias [b, 1, 1, n] in rows of 8", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, f.batch, 1, 1, row); });
      add(", bias [1, h, m, n], dropout", [&](AttentionForm& f) { with_bias(f, AttentionBias::added, 1, f.heads, f.queries, row), f.dropout = 0.1; });
      if (pass < 2) continue;
      add(", dbias [b, h, m, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::with_gradient, f.batch, f.heads, f.queries, f.keys); });
      add(", dbias [1, h, m, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::with_gradient, 1, f.heads, f.queries, f.keys); });
      add(", dbias [1, 1, m, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::with_gradient, 1, 1, f.queries, f.keys); });
      add(", dbias [b, 1, 1, n]", [&](AttentionForm& f) { with_bias(f, AttentionBias::with_gradient, f.batch, 1, 1, f.keys); });
    }
  return all;
}

}  // namespace

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path file = files[i];
    const Descriptor device = described_device(file);
    for (const auto& [name, form] : cases()) {
      const GraphPlan plan(form.graph(), {.device = &device}, form.deterministic);
      std::printf("%s: %s: ", file.stem().c_str(), name.c_str());
      if (plan.is_refused()) std::printf("refused%s%s\n", std::getenv("TERN_REASONS") ? ": " : "", std::getenv("TERN_REASONS") ? plan.refusal().c_str() : "");
      else std::printf("engine %lld, %zu bytes\n", static_cast<long long>(plan.engine()), plan.workspace_bytes());
      std::fflush(stdout);
    }
  }
}
