// Lesson 9: attention: every position looks at all others and takes a mean of what it finds, weighted by fit.
#include <tern/tern.hpp>

#include <cmath>
#include <cstdio>

using namespace tern;

/// Attention of a row's vectors to each other, then their mean.
template <Device D, class T = float>
struct Finder : nn::Module<D, T> {
  nn::MultiheadAttention<D, T> attention{8, 2, {.batch_first = true}};
  nn::Linear<D, T> out{8, 7};
  TERN_FIELDS(Finder, attention, out)

  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(attention(x, x, x).mean(1)); }
};

int main() {
  manual_seed(1);

  // A dictionary of three entries: a key and a value each. A query close to the second key finds the second value.
  const auto keys = tensor<Cpu>({{4, 0}, {0, 4}, {-4, 0}});
  const auto values = tensor<Cpu>({10, 20, 30}).unsqueeze(1);
  const auto query = tensor<Cpu>({{0.5, 4}});

  // By hand: products with all keys, softmax, and the weighted mean of the values.
  const auto weights = (matmul(query, keys.t()) / std::sqrt(2.)).softmax(1);
  const auto found = matmul(weights, values);
  std::printf("weights %s\nfound %g\n", to_string(weights).c_str(), found.item());

  // The op that does it, for any number of queries, batches and heads.
  const auto same = scaled_dot_product_attention(query, keys, values);
  if (std::fabs(same.item() - found.item()) > 1e-4) return 1;

  // is_causal hides the future: position i sees 0 … i. So the first position of a text sees itself alone.
  const auto text = randn<Cpu>({4, 8});
  const auto causal = scaled_dot_product_attention(text, text, text, {}, {.is_causal = true});
  if (!causal.select(0, 0).isclose(text.select(0, 0), 1e-4, 1e-5).all().item()) return 1;

  // What a layer learns is what to ask and what to offer: linear maps to queries, keys and values, in several heads.
  // Here: the mean of a row's neighbours cannot find which element a marker points at, attention can. Each row holds
  // six vectors, one of which carries the mark 1 in its last number; wanted are its other numbers.
  Finder<Cpu> net;
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  double last = 1;
  for (int step = 0; step <= 300; ++step) {
    const auto x = randn<Cpu>({64, 6, 8});
    const auto marked = randint<Cpu, Index>(6, {64});
    const auto mark = one_hot(marked, 6).to(f32);  // [64, 6]
    x.select(2, 7).copy_(mark);                    // a view: this writes into x
    const auto wanted = (x * mark.unsqueeze(2)).sum(1).narrow(1, 0, 7);
    const auto loss = mse_loss(net(x), wanted);
    adam.zero_grad();
    loss.backward();
    adam.step();
    last = loss.item();
    if (step % 100 == 0) std::printf("step %3d: loss %.3f\n", step, last);
  }
  std::printf("guessing zeros has a loss of 1; the attention's is %.3f\n", last);
  return last < 0.3 ? 0 : 1;
}
