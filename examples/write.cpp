// Goes on with a text, by a GPT-2 or Llama whose weights others have trained.
// ./examples/run write --prompt TEXT --weights FOLDER
#include <tern/data/text/byte_pair_encoding.hpp>
#include <tern/models/config.hpp>
#include <tern/models/generate.hpp>
#include <tern/models/load.hpp>
#include <tern/tern.hpp>

#include <chrono>
#include <cstdio>

using namespace tern;

struct Options {
  std::string prompt, weights, device = "cpu", precision = "f32";
  models::GenerateOptions generate{.max_new_tokens = 100};
  Index seed = 1, threads = 0;
};

/// The folder's tokenizer: tokenizer.json, or GPT-2's two files.
data::BytePairEncoding load_tokenizer(const std::string& folder) {
  const std::string one = folder + "/tokenizer.json";
  return io::exists(one) ? data::BytePairEncoding::load(one)
                         : data::BytePairEncoding::load(folder + "/vocab.json", folder + "/merges.txt");
}

/// The prompt's tokens. Llama 3's texts begin with a token of their own.
std::vector<Index> encode_prompt(const data::BytePairEncoding& tokenizer, const std::string& prompt) {
  std::vector<Index> tokens = tokenizer.encode(prompt);
  if (const Index begin = tokenizer.find("<|begin_of_text|>"); begin >= 0) tokens.insert(tokens.begin(), begin);
  return tokens;
}

bool ends_text(const data::BytePairEncoding& tokenizer, Index token) {
  for (const char* const end : {"<|endoftext|>", "<|end_of_text|>", "<|eot_id|>"})
    if (token == tokenizer.find(end)) return true;
  return false;
}

/// Prints the text, token by token, and then how fast the prompt was read and its continuation written.
template <class Net, class D = typename Net::device_type>
void write_with(Net& net, Index positions, const Options& o) {
  using Clock = std::chrono::steady_clock;
  models::load_weights(net, o.weights);
  net.eval();
  const InferenceMode inference;
  const data::BytePairEncoding tokenizer = load_tokenizer(o.weights);
  std::vector<Index> prompt = encode_prompt(tokenizer, o.prompt);
  const Index given = Index(prompt.size()), most = std::min(given + o.generate.max_new_tokens, positions);
  if (given == 0 || given >= positions)
    throw std::runtime_error("write: a prompt of " + std::to_string(given) + " tokens for " + std::to_string(positions) + " positions");
  auto cache = net.new_cache(1, most);
  auto tokens = from_blob<Cpu>(prompt.data(), {1, given}).clone().to(D{});
  std::fputs(o.prompt.c_str(), stdout);
  Index length = given;
  const auto start = Clock::now();
  auto read = start;
  while (length < most) {
    tokens = models::sample(net.next_logits(tokens, cache), o.generate);
    const Index token = tokens.item();
    if (length == given) read = Clock::now();
    ++length;
    if (ends_text(tokenizer, token)) break;
    std::fputs(tokenizer.decode(std::span(&token, 1)).c_str(), stdout);
    std::fflush(stdout);
  }
  const auto seconds = [](auto span) { return std::chrono::duration<double>(span).count(); };
  std::printf("\n\nprompt: %lld tokens, %.1f tokens/s", (long long)given, double(given) / seconds(read - start));
  if (length > given + 1)
    std::printf("; continuation: %lld tokens, %.1f tokens/s", (long long)(length - given),
                double(length - given - 1) / seconds(Clock::now() - read));
  std::puts("");
}

template <Device D, class T>
void write_as(const Options& o) {
  const auto config = models::load_config(o.weights);
  if (const auto* const gpt2 = std::get_if<models::GPT2Options>(&config)) {
    models::GPT2LMHeadModel<D, T> net(*gpt2);
    write_with(net, gpt2->n_positions, o);
  } else {
    const auto& llama = std::get<models::LlamaOptions>(config);
    models::LlamaForCausalLM<D, T> net(llama);
    write_with(net, llama.max_position_embeddings, o);
  }
}

constexpr const char* help =
    "usage: write --prompt TEXT --weights FOLDER [options]\n"
    "  --weights FOLDER     config.json, model.safetensors (or its shards and their index), tokenizer.json (or vocab.json\n"
    "                       and merges.txt): a GPT-2 or Llama as on https://huggingface.co/openai-community/gpt2/tree/main\n"
    "  --max-new-tokens N   how many tokens to write at most (100)\n"
    "  --temperature X      divides the logits (1); 0 takes the likeliest token always\n"
    "  --top-k N            only the N likeliest tokens (0: all)\n"
    "  --top-p P            only the likeliest tokens that together have this probability (1)\n"
    "  --seed N             of the random numbers (1)\n"
    "  --device NAME        cpu, cuda, cuda:1 … or auto (cpu)\n"
    "  --precision NAME     of the weights: f32, bf16 or f16 (f32)\n"
    "  --threads N          (OpenMP's number)\n";

int main(int argc, char** argv) try {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") return std::fputs(help, stdout), 0;
    if (++i == argc) throw std::runtime_error("write: " + name + " needs a value; see --help");
    const std::string value = argv[i];
    char* end = argv[i];
    const double number = std::strtod(argv[i], &end);
    const bool is_number = !value.empty() && *end == 0, is_count = is_number && number >= 0 && number < 1e9 && number == std::floor(number);
    if (name == "--prompt") o.prompt = value;
    else if (name == "--weights") o.weights = value;
    else if (name == "--device") o.device = value;
    else if (name == "--precision" && (value == "f32" || value == "bf16" || value == "f16")) o.precision = value;
    else if (name == "--temperature" && is_number && number >= 0) o.generate.temperature = number;
    else if (name == "--top-p" && is_number && number > 0 && number <= 1) o.generate.top_p = number;
    else if (name == "--top-k" && is_count) o.generate.top_k = Index(number);
    else if (name == "--max-new-tokens" && is_count) o.generate.max_new_tokens = Index(number);
    else if (name == "--seed" && is_count) o.seed = Index(number);
    else if (name == "--threads" && is_count && number >= 1) o.threads = Index(number);
    else throw std::runtime_error("write: cannot use " + name + " " + value + "; see --help");
  }
  if (o.prompt.empty() || o.weights.empty()) return std::fputs(help, stderr), 2;
  if (o.threads) set_num_threads(int(o.threads));
  manual_seed(std::uint64_t(o.seed));
  with_device(o.device, [&]<Device D>(D) {
    if (o.precision == "bf16") write_as<D, bfloat16>(o);
    else if (o.precision == "f16") write_as<D, half>(o);
    else write_as<D, float>(o);
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
