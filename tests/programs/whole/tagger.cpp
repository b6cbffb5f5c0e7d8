// A BiLSTM-CRF tags words; the forward algorithm gives the likelihood and Viterbi the best tags.
#include <tern/tern.hpp>
#include <cstdio>
using namespace tern;
using Ids = Tensor<Cpu, Index>;
using Mask = Tensor<Cpu, bool>;

struct CRF : nn::Module<Cpu> {
  Index num_tags;
  nn::Parameter<Cpu> start, end, transitions;
  explicit CRF(Index n) : num_tags(n), start(empty<Cpu>({n})), end(empty<Cpu>({n})), transitions(empty<Cpu>({n, n})) {
    for (auto* p : {&start, &end, &transitions}) nn::init::uniform_(*p, -0.1, 0.1);
  }
  TERN_FIELDS(CRF, num_tags, start, end, transitions)

  /// log p(tags | emissions), emissions [T, B, C], tags [T, B], mask [T, B].
  Tensor<Cpu> forward(const Tensor<Cpu>& emissions, const Ids& tags, const Mask& mask) {
    return score(emissions, tags, mask) - partition(emissions, mask);
  }
  Tensor<Cpu> score(const Tensor<Cpu>& emissions, const Ids& tags, const Mask& mask) {
    const auto steps = emissions.size(0);
    const auto m = mask.to(f32);
    auto total = start[tags[0]] + emissions[0].gather(1, tags[0].unsqueeze(1)).squeeze(1);
    for (Index t = 1; t < steps; ++t) {
      total += transitions[{tags[t - 1], tags[t]}] * m[t];
      total += emissions[t].gather(1, tags[t].unsqueeze(1)).squeeze(1) * m[t];
    }
    const auto last = mask.sum(0) - 1;
    return total + end[tags.gather(0, last.unsqueeze(0)).squeeze(0)];
  }
  Tensor<Cpu> partition(const Tensor<Cpu>& emissions, const Mask& mask) {
    auto alpha = start + emissions[0];
    for (Index t = 1; t < emissions.size(0); ++t) {
      const auto next = (alpha.unsqueeze(2) + transitions + emissions[t].unsqueeze(1)).logsumexp(1);
      alpha = where(mask[t].unsqueeze(1), next, alpha);
    }
    return (alpha + end).logsumexp(1);
  }
  std::vector<std::vector<Index>> decode(const Tensor<Cpu>& emissions, const Mask& mask) {
    NoGradGuard no_grad;
    auto best = start + emissions[0];
    std::vector<Ids> history;
    for (Index t = 1; t < emissions.size(0); ++t) {
      auto [value, from] = (best.unsqueeze(2) + transitions).max(1);
      best = where(mask[t].unsqueeze(1), value + emissions[t], best);
      history.push_back(from);
    }
    best += end;
    const auto lengths = mask.sum(0);
    std::vector<std::vector<Index>> paths;
    for (Index b = 0; b < mask.size(1); ++b) {
      auto tag = best[b].argmax(0).item();
      std::vector<Index> path{tag};
      for (Index t = lengths[b].item() - 2; t >= 0; --t) path.insert(path.begin(), tag = history[t][b][tag].item());
      paths.push_back(path);
    }
    return paths;
  }
};

struct Tagger : nn::Module<Cpu> {
  nn::Embedding<Cpu> embed{20, 8, {.padding_idx = 0}};
  nn::LSTM<Cpu> lstm{8, 8, {.bidirectional = true}};
  nn::Linear<Cpu> hidden2tag{16, 3};
  CRF crf{3};
  TERN_FIELDS(Tagger, embed, lstm, hidden2tag, crf)
  Tensor<Cpu> features(const Ids& words, const Ids& lengths) {
    const auto packed = pack_padded_sequence(embed(words), lengths, {.enforce_sorted = false});
    return hidden2tag(pad_packed_sequence(std::get<0>(lstm(packed))).first);
  }
  Tensor<Cpu> forward(const Ids& words, const Ids& tags, const Ids& lengths) {
    return -crf(features(words, lengths), tags, words != 0).mean();
  }
};

int main() {
  manual_seed(1);
  // The tag of a word depends on the word and the tag before it.
  std::vector<Ids> words, tags;
  for (int i = 0; i < 32; ++i) {
    words.push_back(randint<Cpu, Index>(1, 20, {4 + i % 5}));
    tags.push_back((words.back() + words.back().roll(1, 0)).remainder(3));
  }
  const auto x = pad_sequence(words), y = pad_sequence(tags);
  const auto lengths = (x != 0).sum(0);
  Tagger net;
  optim::Adam opt(net.parameters(), {.lr = 0.03});
  double loss_value = 0;
  for (int step = 0; step < 80; ++step) {
    const auto loss = net(x, y, lengths);
    opt.zero_grad();
    loss.backward();
    opt.step();
    loss_value = loss.item();
    if (step == 0 || step == 79) std::printf("step %d loss %.6f\n", step, loss_value);
  }
  const auto paths = net.crf.decode(net.features(x, lengths), x != 0);
  Index right = 0, all = 0;
  for (std::size_t b = 0; b < paths.size(); ++b)
    for (std::size_t t = 0; t < paths[b].size(); ++t, ++all) right += paths[b][t] == y(t, b);
  std::printf("%ld of %ld tags\n", long(right), long(all));
  return double(right) / double(all) > 0.9 ? 0 : 1;
}
