// A transformer whose feed-forward layer is a mixture of experts (Shazeer et al., 2017) learns a text of letters, and
// continues it by sampling from the likeliest letters.
#include <tern/tern.hpp>
#include <cstdio>
#include <limits>
#include <string>
using namespace tern;

template <Device D>
struct Expert : nn::Module<D> {
  nn::Linear<D> up, down;
  TERN_FIELDS(Expert, up, down)
  Expert(Index d, Index hidden) : up(d, hidden, {.bias = false}), down(hidden, d, {.bias = false}) {}
  Tensor<D> forward(const Tensor<D>& x) { return down(silu(up(x))); }
};

template <Device D>
struct Mixture : nn::Module<D> {
  Index chosen;
  nn::Linear<D> gate;
  nn::ModuleList<Expert<D>> experts;
  Tensor<D> balance;  // of the last call
  TERN_FIELDS(Mixture, gate, experts)
  Mixture(Index d, Index n, Index chosen) : chosen(chosen), gate(d, n, false) {
    for (Index i = 0; i < n; ++i) experts.emplace_back(d, 2 * d);
  }
  Tensor<D> forward(const Tensor<D>& x) {
    const auto flat = x.view({-1, x.size(-1)});
    const auto probs = softmax(gate(flat), -1);
    auto [weight, index] = topk(probs, chosen, -1);
    weight /= weight.sum(-1, true);
    auto out = zeros_like(flat);
    for (Index e = 0; e < experts.size(); ++e) {
      const auto at = where(index == e);
      if (at[0].numel() == 0) continue;
      const auto y = experts[e](flat.index_select(0, at[0])) * weight[at].unsqueeze(1);
      out = out.index_add(0, at[0], y);
    }
    const auto load = one_hot(index.view(-1), experts.size()).to(f32).mean(0);
    balance = (load * probs.mean(0)).sum() * double(experts.size());
    return out.view_as(x);
  }
};

template <Device D>
struct Block : nn::Module<D> {
  nn::RMSNorm<D> n1{32}, n2{32};
  nn::Linear<D> qkv{32, 96}, proj{32, 32};
  Mixture<D> mixture{32, 4, 2};
  TERN_FIELDS(Block, n1, n2, qkv, proj, mixture)
  Tensor<D> forward(const Tensor<D>& x) {
    const auto [b, length, width] = sizes<3>(x);
    const auto heads = [&](const Tensor<D>& y) { return y.view({b, length, 4, width / 4}).transpose(1, 2); };
    const auto [q, k, v] = chunk<3>(qkv(n1(x)), -1);
    const auto a = scaled_dot_product_attention(heads(q), heads(k), heads(v), {.is_causal = true});
    const auto h = x + proj(a.transpose(1, 2).reshape({b, length, width}));
    return h + mixture(n2(h));
  }
};

template <Device D>
struct Model : nn::Module<D> {
  nn::Embedding<D> letters{26, 32}, positions{64, 32};
  Block<D> block;
  TERN_FIELDS(Model, letters, positions, block)
  Tensor<D> forward(const Tensor<D, Index>& x) {
    const auto h = block(letters(x) + positions(arange<D>(x.size(1))));
    return linear(h, letters.weight) / 5;
  }
};

int main() {
  manual_seed(0);
  const std::string text = "thequickbrownfoxjumpsoverthelazydog";
  std::vector<Index> ids;
  for (const char c : text) ids.push_back(c - 'a');
  const auto tokens = tensor<Cpu>(ids).unsqueeze(0);
  const auto input = tokens.index({Slice(), Slice(None, -1)}), next = tokens.index({Slice(), Slice(1, None)});
  Model<Cpu> net;
  optim::AdamW opt(net.parameters(), {.lr = 1e-2, .weight_decay = 0.01});
  optim::LambdaLR warm_up(opt, [](Index step) { return std::min(1.0, double(step + 1) / 10); });
  float last = 0;
  for (int i = 0; i < 80; ++i) {
    const auto logits = net(input);
    const auto loss = cross_entropy(logits.view({-1, 26}), next.reshape(-1)) + 0.01 * net.block.mixture.balance;
    opt.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    opt.step();
    warm_up.step();
    last = loss.item();
    if (i % 20 == 0) std::printf("%d: loss %.3f\n", i, last);
  }
  NoGradGuard no_grad;
  auto written = tokens.narrow(1, 0, 12);
  while (written.size(1) < tokens.size(1)) {
    auto [logits, order] = sort(net(written)[0][-1] / 0.8, -1, true);
    auto beyond = softmax(logits, -1).cumsum(-1) > 0.9;
    beyond[0] = false;
    logits.masked_fill_(beyond, -std::numeric_limits<float>::infinity());
    written = cat({written, order[multinomial(softmax(logits, -1), 1)].view({1, 1})}, 1);
  }
  for (const auto& letter : written[0]) std::putchar('a' + int(letter.item()));
  std::printf("\n");
  return !(last < 0.5f && equal(written, tokens));
}
