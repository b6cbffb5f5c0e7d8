// Lesson 8: text: words become vectors, and the mean of a sentence's vectors says what the sentence is about.
#include <tern/tern.hpp>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>

using namespace tern;

const std::array<std::vector<std::string>, 3> topics{{
    {"rain", "wind", "sun", "cloud", "storm", "snow", "fog", "frost", "thunder", "drizzle"},
    {"goal", "team", "match", "coach", "player", "league", "ball", "stadium", "cup", "referee"},
    {"bread", "soup", "cheese", "oven", "salt", "butter", "onion", "plate", "garlic", "recipe"},
}};
const char* const names[] = {"weather", "sport", "food"};
const std::vector<std::string> others{"the", "a", "and", "was", "today", "we", "saw", "some", "with", "much"};

/// Words are numbers to a network: their places in a vocabulary.
struct Vocabulary {
  std::map<std::string, Index> number;
  Index of(const std::string& word) { return number.try_emplace(word, Index(number.size())).first->second; }
};

/// EmbeddingBag looks rows of a table up by number and takes the mean for each sentence: one pass, and its gradient
/// touches only the rows that were used. A linear layer scores the topics.
template <Device D, class T = float>
struct Classifier : nn::Module<D, T> {
  nn::EmbeddingBag<D, T> words{40, 16};
  nn::Linear<D, T> out{16, 3};
  TERN_FIELDS(Classifier, words, out)

  Tensor<D, T> forward(const Tensor<D, Index>& sentences) { return out(words(sentences)); }
};

/// n sentences of eight words, two of which are of the sentence's topic, and the topics.
std::pair<Tensor<Cpu, Index>, Tensor<Cpu, Index>> sentences(Index n, Vocabulary& vocabulary) {
  const auto topic = randint<Cpu, Index>(3, {n}), word = randint<Cpu, Index>(10, {n, 8});
  auto numbers = empty<Cpu, Index>({n, 8});
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < 8; ++k) {  // element access: only where memory is the host's
      const auto& list = k < 2 ? topics[std::size_t(topic.data()[i])] : others;
      numbers.data()[8 * i + k] = vocabulary.of(list[std::size_t(word.data()[8 * i + k])]);
    }
  return {numbers, topic};
}

int main() {
  manual_seed(1);
  Vocabulary vocabulary;
  const auto [x, y] = sentences(300, vocabulary);
  Classifier<Cpu> net;
  optim::Adam adam(net.parameters(), {.lr = 0.05});
  for (int step = 0; step <= 60; ++step) {
    const auto loss = cross_entropy(net(x), y);
    if (step % 20 == 0) std::printf("step %2d: loss %.4f\n", step, loss.item());
    adam.zero_grad();
    loss.backward();
    adam.step();
  }

  const auto [new_x, new_y] = sentences(300, vocabulary);
  const double accuracy = (net(new_x).argmax(1) == new_y).to(f32).mean().item();
  std::printf("%.1f%% of 300 new sentences are right\n", 100 * accuracy);

  const std::string sentence = "we saw the referee and some players with a ball";
  std::vector<Index> known;  // a word that was never seen has no row
  std::istringstream stream(sentence);
  for (std::string word; stream >> word;)
    if (vocabulary.number.count(word)) known.push_back(vocabulary.of(word));
  const auto scores = net(from_vector<Cpu>(known, {1, Index(known.size())})).softmax(1);
  const Index topic = scores.argmax(1).item();
  std::printf("\"%s\" is about %s (%.0f%%)\n", sentence.c_str(), names[topic], 100 * scores.amax().item());
  return accuracy > 0.9 && topic == 1 ? 0 : 1;
}
