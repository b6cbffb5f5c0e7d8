// An encoder and a decoder with attention learn to write a sequence backwards.
#include <tern/tern.hpp>
#include <cstdio>
using namespace tern;

constexpr Index PAD = 0, BOS = 1, EOS = 2, vocabulary = 13, width = 48;

struct Encoder : nn::Module<Cpu> {
  nn::Embedding<Cpu> embedding{vocabulary, width, {.padding_idx = PAD}};
  nn::GRU<Cpu> gru{width, width / 2, {.batch_first = true, .bidirectional = true}};
  TERN_FIELDS(Encoder, embedding, gru)
  std::pair<Tensor<Cpu>, Tensor<Cpu>> forward(const Tensor<Cpu, Index>& source, const Tensor<Cpu, Index>& lengths) {
    const auto packed =
        pack_padded_sequence(embedding(source), lengths, {.batch_first = true, .enforce_sorted = false});
    const auto [states, last] = gru(packed);
    const auto [memory, _] = pad_packed_sequence(states, {.batch_first = true});
    return {memory, cat({last[0], last[1]}, 1).unsqueeze(0)};
  }
};

struct Decoder : nn::Module<Cpu> {
  nn::Embedding<Cpu> embedding{vocabulary, width, {.padding_idx = PAD}};
  nn::GRU<Cpu> gru{width, width, {.batch_first = true}};
  nn::Linear<Cpu> query{width, width}, out{2 * width, vocabulary};
  TERN_FIELDS(Decoder, embedding, gru, query, out)
  std::pair<Tensor<Cpu>, Tensor<Cpu>> forward(const Tensor<Cpu, Index>& input, const Tensor<Cpu>& state,
                                              const Tensor<Cpu>& memory, const Tensor<Cpu, bool>& mask) {
    const auto [h, next] = gru(embedding(input), state);
    auto scores = bmm(query(h), memory.transpose(1, 2));
    scores = scores.masked_fill(mask.unsqueeze(1), -1e9);
    const auto context = bmm(softmax(scores, -1), memory);
    return {out(cat({h, context}, -1)), next};
  }
};

struct Seq2Seq : nn::Module<Cpu> {
  Encoder encoder;
  Decoder decoder;
  TERN_FIELDS(Seq2Seq, encoder, decoder)
  Tensor<Cpu> forward(const Tensor<Cpu, Index>& source, const Tensor<Cpu, Index>& lengths,
                      const Tensor<Cpu, Index>& target) {
    const auto [memory, state] = encoder(source, lengths);
    return decoder(target, state, memory, source == PAD).first;
  }
  Tensor<Cpu, Index> translate(const Tensor<Cpu, Index>& source, const Tensor<Cpu, Index>& lengths, int steps) {
    NoGradGuard no_grad;
    auto [memory, state] = encoder(source, lengths);
    auto token = full<Cpu, Index>({source.size(0), 1}, BOS);
    std::vector<Tensor<Cpu, Index>> written;
    for (int i = 0; i < steps; ++i) {
      const auto [logits, next] = decoder(token, state, memory, source == PAD);
      token = logits.argmax(-1);
      state = next;
      written.push_back(token);
    }
    return cat(written, 1);
  }
};

struct Batch {
  Tensor<Cpu, Index> source, lengths, target;
};

// Sequences of 3 to 6 of ten letters, and the same backwards between BOS and EOS.
Batch draw(Index n) {
  Batch b{zeros<Cpu, Index>({n, 6}), randint<Cpu, Index>(3, 7, {n}), zeros<Cpu, Index>({n, 8})};
  for (Index i = 0; i < n; ++i) {
    const Index length = b.lengths[i].item();
    const auto letters = randint<Cpu, Index>(3, vocabulary, {length});
    b.source[{i, Slice({}, length)}] = letters;
    b.target[{i, 0}] = BOS;
    b.target[{i, Slice(1, length + 1)}] = letters.flip({0});
    b.target[{i, length + 1}] = EOS;
  }
  return b;
}

int main() {
  manual_seed(3);
  Seq2Seq net;
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  double loss = 0;
  for (int step = 0; step < 250; ++step) {
    const auto [source, lengths, target] = draw(64);
    const auto input = target[{Slice(), Slice({}, -1)}], wanted = target[{Slice(), Slice(1, {})}];
    const auto l = cross_entropy(net(source, lengths, input).flatten(0, 1), wanted.flatten(), {.ignore_index = PAD});
    adam.zero_grad();
    l.backward();
    optim::clip_grad_norm_(net.parameters(), 1);
    adam.step();
    loss = l.item();
  }
  net.eval();
  const auto [source, lengths, target] = draw(200);
  const auto wanted = target[{Slice(), Slice(1, {})}];
  const auto written = net.translate(source, lengths, 7);
  const auto right = ((written == wanted) | (wanted == PAD)).all(1);
  std::printf("loss %.4f, %.1f%% of 200 sequences right\n", loss, 100 * right.to(f32).mean().item<double>());
  return right.to(f32).mean().item() > 0.9f ? 0 : 1;
}
