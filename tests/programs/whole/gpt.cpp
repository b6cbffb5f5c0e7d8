// A small GPT learns a text character by character and continues it.
#include <tern/tern.hpp>
#include <cstdio>
#include <map>
using namespace tern;

struct Config {
  Index vocabulary, context = 32, width = 48, heads = 4, layers = 2;
};

struct Attention : nn::Module<Cpu> {
  Index heads;
  nn::Linear<Cpu> qkv, out;
  explicit Attention(const Config& c) : heads(c.heads), qkv(c.width, 3 * c.width), out(c.width, c.width) {}
  TERN_FIELDS(Attention, heads, qkv, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    const Index batch = x.size(0), steps = x.size(1), width = x.size(2);
    const auto parts = qkv(x).view({batch, steps, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const auto y = scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, {.is_causal = true});
    return out(y.transpose(1, 2).reshape({batch, steps, width}));
  }
};

struct Block : nn::Module<Cpu> {
  nn::LayerNorm<Cpu> norm1, norm2;
  Attention attention;
  nn::Sequential<Cpu> mlp;
  explicit Block(const Config& c)
      : norm1(c.width), norm2(c.width), attention(c),
        mlp(nn::Linear<Cpu>(c.width, 4 * c.width), nn::GELU<Cpu>(), nn::Linear<Cpu>(4 * c.width, c.width)) {}
  TERN_FIELDS(Block, norm1, norm2, attention, mlp)
  Tensor<Cpu> forward(Tensor<Cpu> x) {
    x = x + attention(norm1(x));
    return x + mlp(norm2(x));
  }
};

struct GPT : nn::Module<Cpu> {
  Config config;
  nn::Embedding<Cpu> tokens, positions;
  nn::ModuleList<Block> blocks;
  nn::LayerNorm<Cpu> norm;
  nn::Linear<Cpu> head;
  explicit GPT(const Config& c)
      : config(c), tokens(c.vocabulary, c.width), positions(c.context, c.width), norm(c.width),
        head(c.width, c.vocabulary, {.bias = false}) {
    for (Index i = 0; i < c.layers; ++i) blocks.push_back(Block(c));
    head.weight = tokens.weight;  // tied
    for (auto& [name, p] : named_parameters())
      if (p.dim() > 1) nn::init::normal_(p, 0.0, 0.02);
  }
  TERN_FIELDS(GPT, config, tokens, positions, blocks, norm, head)
  Tensor<Cpu> forward(const Tensor<Cpu, Index>& ids) {
    auto x = tokens(ids) + positions(arange<Cpu, Index>(ids.size(1)));
    for (auto& block : blocks) x = block(x);
    return head(norm(x));
  }
  Tensor<Cpu, Index> generate(Tensor<Cpu, Index> ids, int count, double temperature) {
    NoGradGuard no_grad;
    for (int i = 0; i < count; ++i) {
      const auto last = ids[{Slice(), Slice(-std::min(config.context, ids.size(1)), {})}];
      const auto logits = (*this)(last)[{Slice(), -1}] / temperature;
      ids = cat({ids, multinomial(logits.softmax(-1), 1)}, 1);
    }
    return ids;
  }
};

int main() {
  manual_seed(1337);
  const std::string verse = "the owl and the pussycat went to sea in a beautiful pea-green boat. ";
  std::string text;
  for (int i = 0; i < 30; ++i) text += verse;
  std::string letters;
  std::map<char, Index> number;
  for (const char c : text)
    if (number.try_emplace(c, Index(letters.size())).second) letters += c;
  const auto encode = [&](const std::string& s) {
    std::vector<Index> ids;
    for (const char c : s) ids.push_back(number.at(c));
    return tensor<Cpu>(ids);
  };
  const auto data = encode(text);

  GPT net({.vocabulary = Index(letters.size())});
  optim::AdamW adam(net.parameters(), {.lr = 3e-3, .weight_decay = 0.01});
  const Index context = net.config.context;
  double loss = 0;
  for (int step = 0; step < 400; ++step) {
    std::vector<Tensor<Cpu, Index>> x, y;
    for (const Index i : randint<Cpu, Index>(0, data.size(0) - context, {8}).to_vector()) {
      x.push_back(data[Slice(i, i + context)]);
      y.push_back(data[Slice(i + 1, i + context + 1)]);
    }
    const auto l = cross_entropy(net(stack(x)).flatten(0, 1), stack(y).flatten());
    adam.zero_grad();
    l.backward();
    optim::clip_grad_norm_(net.parameters(), 1.0);
    adam.step();
    loss = l.item<double>();
  }
  std::string written;
  for (const Index id : net.generate(encode(verse.substr(0, 8)).unsqueeze(0), 60, 0.3)[0].to_vector())
    written += letters[std::size_t(id)];
  std::printf("loss %.3f\n%s\n", loss, written.c_str());
  return loss < 0.2 && written == verse.substr(0, 68) ? 0 : 1;
}
