// Continues a text with a language model that others have trained.
// ./examples/run write --weights FOLDER --prompt TEXT; --help lists the options.
#include <tern/data/text/byte_pair_encoding.hpp>
#include <tern/models/config.hpp>
#include <tern/models/generate.hpp>
#include <tern/models/load.hpp>
#include <tern/tensor/with_device.hpp>

#include <algorithm>
#include <cstdio>

#include "support/parse.hpp"
#include "support/seconds.hpp"

using namespace tern;

struct Options {
  std::string prompt, weights, device = "cpu", precision = "f32";
  models::GenerateOptions generate{.max_new_tokens = 100};
  Index seed = 1, threads = 0;
};

constexpr const char* help =
    "usage: write --weights FOLDER --prompt TEXT [options]\n"
    "  --weights FOLDER      of GPT-2, Llama, Qwen or Mistral, as Hugging Face has them: config.json; "
    "model.safetensors or\n"
    "                        model.safetensors.index.json; tokenizer.json or vocab.json and merges.txt\n"
    "  --prompt TEXT         what is continued; it may name tokens, such as <|im_start|>. Those that begin each text "
    "of\n"
    "                        the model, as Llama 3's <|begin_of_text|>, are put in front\n"
    "  --max-new-tokens N    the longest continuation (100)\n"
    "  --temperature T       0: always the likeliest token (1)\n"
    "  --top-k K             draw from the K likeliest tokens only; 0: from all (0)\n"
    "  --top-p P             draw from the likeliest tokens that together have probability P (1)\n"
    "  --seed N              of what is drawn (1)\n"
    "  --device NAME         cpu, cuda, cuda:1 … or auto (cpu)\n"
    "  --precision TYPE      f32, bf16 or f16, of weights and computation (f32)\n"
    "  --threads N           of the CPU\n";

void print_rate(const char* what, Index tokens, double seconds) {
  std::printf("%s: %lld tokens, %.1f tokens/s\n", what, (long long)tokens, double(tokens) / seconds);
}

/// Prints the prompt and each token after it as soon as it is drawn, until one of `stop`.
template <Device D, class Net>
void write_with(Net net, const Options& o, const std::vector<Index>& stop) {
  const auto encoding = data::BytePairEncoding::load(o.weights);
  const auto prompt = encoding.encode(o.prompt, true);
  models::load_weights(net, o.weights);
  const InferenceMode inference;
  net.eval();
  manual_seed(std::uint64_t(o.seed));
  const Index given = Index(prompt.size()), most = o.generate.max_new_tokens;
  auto cache = net.new_cache(1, given + most - 1);  // the last token is not looked at
  auto next = from_vector<D, Index>(prompt, {1, given});
  std::fputs(o.prompt.c_str(), stdout);
  std::vector<Index> text = prompt;
  std::size_t printed = encoding.decode(text).size();  // a token alone may lack the space in front of it
  const double start = support::now();
  double first = start;  // when the first token was there
  Index count = 0;
  while (count < most) {
    next = models::sample(net.next_logits(next, cache), o.generate);
    const Index token = next.item();
    if (count++ == 0) first = support::now();
    if (std::find(stop.begin(), stop.end(), token) != stop.end()) break;
    text.push_back(token);
    const std::string whole = encoding.decode(text);
    std::fputs(whole.c_str() + printed, stdout);
    std::fflush(stdout);
    printed = whole.size();
  }
  const double end = support::now();
  std::printf("\n\n");
  print_rate("prompt", given, first - start);
  if (count > 1) print_rate("continuation", count - 1, end - first);
}

template <Device D, class T>
void write(const Options& o) {
  const auto config = models::load_config(o.weights + "/config.json");
  if (const auto* const sizes = std::get_if<models::GPT2Options>(&config.options))
    return write_with<D>(models::GPT2LMHeadModel<D, T>(*sizes), o, config.eos_token_id);
  write_with<D>(models::LlamaForCausalLM<D, T>(std::get<models::LlamaOptions>(config.options)), o, config.eos_token_id);
}

int main(int argc, char** argv) try {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") return std::fputs(help, stdout), 0;
    if (++i == argc) throw std::runtime_error("write: " + name + " needs a value; see --help");
    const char* const value = argv[i];
    if (name == "--prompt") o.prompt = value;
    else if (name == "--weights") o.weights = value;
    else if (name == "--max-new-tokens") o.generate.max_new_tokens = support::parse_index("--max-new-tokens", value, 1);
    else if (name == "--temperature") o.generate.temperature = support::parse_number("--temperature", value);
    else if (name == "--top-k") o.generate.top_k = support::parse_index("--top-k", value);
    else if (name == "--top-p") o.generate.top_p = support::parse_number("--top-p", value);
    else if (name == "--seed") o.seed = support::parse_index("--seed", value);
    else if (name == "--device") o.device = value;
    else if (name == "--precision") o.precision = value;
    else if (name == "--threads") o.threads = support::parse_index("--threads", value, 1, 1024);
    else throw std::runtime_error("write: there is no option " + name + "; see --help");
  }
  if (o.prompt.empty() || o.weights.empty()) return std::fputs(help, stderr), 2;
  if (!(o.generate.top_p > 0 && o.generate.top_p <= 1))
    throw std::runtime_error("write: --top-p must be above 0 and at most 1");
  support::check_choice("--precision", o.precision, {"f32", "bf16", "f16"});
  if (o.threads) set_num_threads(int(o.threads));
  with_device(o.device, [&]<Device D>(D) {
    if (o.precision == "bf16") write<D, bfloat16>(o);
    else if (o.precision == "f16") write<D, half>(o);
    else write<D, float>(o);
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
