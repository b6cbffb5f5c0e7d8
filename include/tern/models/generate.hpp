// Text from a language model, token by token.
#pragma once
#include "../ops/multinomial.hpp"
#include "../ops/softmax.hpp"
#include "key_value_cache.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct GenerateOptions {
  Index max_new_tokens = 20;
  double temperature = 1;  // the logits' divisor; 0: always the likeliest token
  Index top_k = 0;         // only the k likeliest tokens; 0: all
  double top_p = 1;        // only the likeliest tokens that together have this probability (Holtzman and others, 2019)
  std::vector<Index> stop{};  // a sequence ends with one of these tokens
};

/// A token [batch, 1] for each row of logits [batch, vocab_size], drawn on the device by the options' temperature,
/// top_k and top_p, in this order.
template <Device D, Element T>
Tensor<D, Index> sample(const Tensor<D, T>& logits, const GenerateOptions& options) {
  if (options.temperature == 0) return argmax(logits, -1, true);
  // The first to arrive, after an exponential time of rate p, is each with probability p. No host waits, as for
  // multinomial().
  const auto draw = [](const Tensor<D, double>& p) {
    return argmax(p / -log(rand<D, double>(p.shape(), p.device())), -1, true);
  };
  const auto x = logits.to(f64);
  const auto p = softmax((x - amax(x, -1, true)) / options.temperature, -1);
  if (options.top_k == 0 && options.top_p == 1) return draw(p);
  const Index count = p.size(1);
  const auto likeliest = topk(p, options.top_k == 0 ? count : std::min(options.top_k, count));
  const auto before = cumsum(likeliest.values, -1) - likeliest.values;  // what likelier tokens have together
  const auto reached = before >= options.top_p * sum(likeliest.values, -1, true);
  return gather(likeliest.indices, -1, draw(masked_fill(likeliest.values, reached, 0)));
}

/// The tokens [batch, n], or [n], and up to max_new_tokens after them, each drawn by what `net` (GPT2LMHeadModel,
/// LlamaForCausalLM) makes of those before it. A sequence that has ended repeats its last token until all have ended.
/// Keys and values are kept in a cache, which is allocated once. Only with stop tokens does the host wait for each
/// token. Error in training mode, and if the model has too few positions.
template <class Net, class D = typename Net::device_type>
Tensor<D, Index> generate(const Net& net, const Tensor<D, Index>& tokens, const GenerateOptions& options = {},
                          CallSite here = {}) {
  const CallSite op{"generate", here};
  const CallScope scope(op);
  const NoGradGuard off;
  if (tokens.checked(op)->ndim < 1 || tokens.dim() > 2 || tokens.numel() == 0)
    Error::fail(op, {"tokens must be [batch, length] or [length] and not empty, not ", tokens.shape()});
  if (options.max_new_tokens < 0) Error::fail(op, {"max_new_tokens must not be negative, is ", options.max_new_tokens});
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    Error::fail(op, {"temperature must be 0 or positive, not ", options.temperature});
  if (options.top_k < 0) Error::fail(op, {"top_k must not be negative, is ", options.top_k});
  if (!(options.top_p > 0 && options.top_p <= 1))
    Error::fail(op, {"top_p must be above 0 and at most 1, not ", options.top_p});
  if (net.is_training()) Error::fail(op, {"the network is in training mode: call its eval() first"});
  if (options.max_new_tokens == 0) return tokens;
  if (tokens.dim() == 1) return generate(net, tokens.unsqueeze(0), options, here).squeeze(0);

  const Index batch = tokens.size(0), given = tokens.size(1), most = given + options.max_new_tokens;
  auto cache = net.new_cache(batch, most - 1);  // the last token is not looked at
  const auto text = empty<D, Index>({batch, most}, tokens.device());
  text.narrow(1, 0, given).copy_(tokens);
  Tensor<D, Index> next = tokens;
  Tensor<D, bool> ended;
  for (Index length = given; length < most; ++length) {
    const auto drawn = sample(net.next_logits(next, cache), options);
    next = ended.defined() ? where(ended, next, drawn) : drawn;
    text.narrow(1, length, 1).copy_(next);
    if (options.stop.empty()) continue;
    ended = next == options.stop[0];
    for (const Index token : options.stop) ended = logical_or(ended, next == token);
    if (tern::all(ended).item()) return text.narrow(1, 0, length + 1);
  }
  return text;
}

}}}  // namespace tern::models
