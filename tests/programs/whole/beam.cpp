// A decoder with a cache of keys and values reverses digits by beam search.
#include <tern/tern.hpp>
#include <algorithm>
using namespace tern;
using Ids = Tensor<Cpu, Index>;

constexpr Index BOS = 10, SEP = 11, EOS = 12, VOCAB = 13;

struct KVCache {
  Tensor<Cpu> k, v;
  Index length() const { return k.defined() ? k.size(2) : 0; }
  KVCache index_select(const Ids& beams) const { return {k.index_select(0, beams), v.index_select(0, beams)}; }
};

struct Attention : nn::Module<Cpu> {
  nn::Linear<Cpu> q, k, v, proj;
  Index heads;
  Attention(Index d, Index heads) : q(d, d), k(d, d), v(d, d), proj(d, d), heads(heads) {}
  TERN_FIELDS(Attention, q, k, v, proj, heads)
  Tensor<Cpu> split(const Tensor<Cpu>& x) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); }
  Tensor<Cpu> forward(const Tensor<Cpu>& x, KVCache* cache = nullptr) {
    auto K = split(k(x)), V = split(v(x));
    const bool causal = x.size(1) > 1;
    if (cache) {
      if (cache->k.defined()) K = cat({cache->k, K}, 2), V = cat({cache->v, V}, 2);
      *cache = {K, V};
    }
    const auto y = scaled_dot_product_attention(split(q(x)), K, V, {}, {.dropout_p = 0.0, .is_causal = causal});
    return proj(y.transpose(1, 2).flatten(2));
  }
};

struct Layer : nn::Module<Cpu> {
  Attention attn;
  nn::Sequential<Cpu> mlp;
  nn::RMSNorm<Cpu> norm1, norm2;
  Layer(Index d, Index heads)
      : attn(d, heads), mlp(nn::Linear<Cpu>(d, 2 * d), nn::GELU<Cpu>(), nn::Linear<Cpu>(2 * d, d)), norm1(d), norm2(d) {
  }
  TERN_FIELDS(Layer, attn, mlp, norm1, norm2)
  Tensor<Cpu> forward(Tensor<Cpu> x, KVCache* cache = nullptr) {
    x = x + attn(norm1(x), cache);
    return x + mlp(norm2(x));
  }
};

struct Decoder : nn::Module<Cpu> {
  nn::Embedding<Cpu> tok{VOCAB, 48}, pos{16, 48};
  nn::ModuleList<Layer> layers;
  nn::Linear<Cpu> lm_head{48, VOCAB, {.bias = false}};
  Decoder() {
    for (int i = 0; i < 2; ++i) layers.push_back(Layer(48, 4));
  }
  TERN_FIELDS(Decoder, tok, pos, layers, lm_head)
  Tensor<Cpu> forward(const Ids& ids, std::vector<KVCache>* caches = nullptr) {
    const Index past = caches ? caches->front().length() : 0;
    auto x = tok(ids) + pos(arange<Cpu>(past, past + ids.size(1)));
    for (Index i = 0; i < layers.size(); ++i) x = layers[i](x, caches ? &caches->at(i) : nullptr);
    return lm_head(x);
  }
  /// The best sequence of a prompt [1, T] and its log-probability.
  std::pair<std::vector<Index>, double> beam_search(const Ids& prompt, Index beams, Index max_len) {
    InferenceMode inference;
    std::vector<KVCache> caches(layers.size());
    auto logp = (*this)(prompt, &caches)[{0, -1}].log_softmax(-1);
    auto [scores, tokens] = logp.topk(beams);
    auto seqs = tokens.unsqueeze(1);
    for (auto& c : caches) c = c.index_select(zeros<Cpu, Index>({beams}));
    for (Index step = 1; step < max_len; ++step) {
      const auto done = seqs[{"...", -1}] == EOS;
      if (done.all().item()) break;
      logp = (*this)(seqs[{Slice(), Slice(-1, None)}], &caches)[{Slice(), -1}].log_softmax(-1);
      logp = logp.masked_fill(done.unsqueeze(1), -INFINITY);
      logp[{Slice(), EOS}] = where(done, 0.0f, logp[{Slice(), EOS}]);
      const auto total = (scores.unsqueeze(1) + logp).flatten();
      const auto [best, index] = total.topk(beams);
      const auto beam = index.floor_divide(VOCAB);
      scores = best;
      seqs = cat({seqs[beam], index.remainder(VOCAB).unsqueeze(1)}, 1);
      for (auto& cache : caches) cache = cache.index_select(beam);
    }
    return {seqs[0].to_vector(), scores[0].item()};  // topk's results are sorted
  }
};

int main() {
  manual_seed(3);
  Decoder net;
  optim::AdamW opt(net.parameters(), {.lr = 3e-3});
  const Index B = 64, n = 4;
  for (int step = 0; step < 200; ++step) {
    const auto digits = randint<Cpu, Index>(0, 10, {B, n});
    const auto seq = cat({full<Cpu, Index>({B, 1}, BOS), digits, full<Cpu, Index>({B, 1}, SEP), digits.flip(1),
                          full<Cpu, Index>({B, 1}, EOS)},
                         1);
    auto target = seq[{Slice(), Slice(1, None)}].clone();
    target[{Slice(), Slice(None, n + 1)}] = -100;
    const auto loss =
        cross_entropy(net(seq[{Slice(), Slice(None, -1)}]).flatten(0, 1), target.reshape(-1), {.ignore_index = -100});
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  net.eval();
  const auto prompt = tensor<Cpu, Index>({{BOS, 3, 1, 4, 1, SEP}});
  const auto ids = net.beam_search(prompt, 3, 8).first;
  const std::vector<Index> digits(ids.begin(), std::find(ids.begin(), ids.end(), EOS));
  return digits == std::vector<Index>{1, 4, 1, 3} ? 0 : 1;
}
