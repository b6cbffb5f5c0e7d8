// The measurements of ./benchmarks/run input (harness/input_study.py), one in each process, so that the largest
// resident set is its own:
//
//   input_study pack FORMAT PICTURES OUT                packs a folder of pictures into four shards
//   input_study repeat PICTURES OUT BYTES               packs it again and again, into eight TFRecord shards of so many
//   bytes in all input_study network SECONDS                         trains the network on one batch, for so long
//   input_study read SET CACHE WORKERS SECONDS IMAGES   batches alone: an epoch, at most so long and so many images
//   input_study train SET CACHE WORKERS SECONDS IMAGES  with the network trained on them
//   input_study all SET CACHE WORKERS SECONDS IMAGES    the same, after every record was read
//
// SET is a folder of pictures or of shards. CACHE says what the system has of it in memory: `warm` everything,
// `dropped` nothing. The result is a line of JSON.
#include <tern/data/image_folder.hpp>
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/packed_images.hpp>
#include <tern/data/records/records.hpp>
#include <tern/data/transforms.hpp>
#include <tern/io/json.hpp>
#include <tern/tern.hpp>

#include "../../examples/support/parse.hpp"

#include <cstdio>
#include <filesystem>

namespace {

using namespace tern;

constexpr Index batch_size = 32, side = 224;
constexpr Index most_picture_bytes = Index(1) << 30;

struct Options {
  std::string set;
  bool dropped;
  Index workers;
  double seconds;  // at most
  Index images;    // at most
};

struct Result {
  Index images = 0;
  double seconds = 0, waited = 0;

  void print() const;
};

/// The largest resident set of this process so far, in bytes.
Index peak_resident() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (!status) Error::fail("input_study", {"/proc/self/status cannot be read"});
  long long kilobytes = 0;
  for (char line[256]; std::fgets(line, sizeof line, status) && std::sscanf(line, "VmHWM: %lld", &kilobytes) != 1;) {}
  std::fclose(status);
  return Index(kilobytes) << 10;
}

void Result::print() const {
  io::Json json;
  json.object();
  json.member("images", images), json.member("seconds", seconds), json.member("waited", waited),
      json.member("peak_bytes", peak_resident());
  json.end();
  std::printf("%s\n", json.text().c_str());
}

/// Has the system hold all of a file in memory, or nothing.
void prepare(const std::string& path, bool dropped) {
  io::File file(path);
  if (dropped) {
    file.sync();  // what is not on the disk cannot be dropped
    if (::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED) != 0)
      Error::fail("input_study", {"'", path, "': cannot be dropped from memory"});
    return;
  }
  std::string block(1 << 20, '\0');
  while (file.read(block.data(), Index(block.size())) > 0) {}
}

/// Four convolutions, which take about as long as decoding does.
struct Network : nn::Module<Cpu> {
  nn::Conv2d<Cpu> conv1{3, 32, 7, {.stride = 2, .padding = 3}}, conv2{32, 64, 3, {.stride = 2, .padding = 1}},
      conv3{64, 128, 3, {.stride = 2, .padding = 1}}, conv4{128, 256, 3, {.stride = 2, .padding = 1}};
  nn::Linear<Cpu> out{256, 10};
  TERN_FIELDS(Network, conv1, conv2, conv3, conv4, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    const auto y = relu(conv2(max_pool2d(relu(conv1(x)), 2)));
    return out(adaptive_avg_pool2d(relu(conv4(relu(conv3(y)))), 1).flatten(1));
  }
};

class Trainer {
 public:
  void step(const Tensor<Cpu>& x, const Tensor<Cpu, Index>& y) {
    optimizer_.zero_grad();
    cross_entropy(network_(x), y).backward();
    optimizer_.step();
  }

 private:
  Network network_;
  optim::SGD optimizer_{network_.parameters(), {.lr = 0.01, .momentum = 0.9}};
};

/// An epoch, as far as the time goes. Opening the set counts, and as waiting.
template <class Open, class F>
Result epoch(const Options& o, const Open& open, const F& step) {
  namespace transforms = data::transforms;
  const double start = detail::now();
  const auto set = open();
  const auto crops = data::transformed(set, transforms::RandomResizedCrop(side), transforms::RandomHorizontalFlip(),
                                       transforms::Normalize({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}));
  const data::LoaderOptions options{.batch_size = batch_size, .num_workers = int(o.workers), .seed = 1};
  const auto run = [&](auto&& batches) {
    Result result{.waited = detail::now() - start};
    for (auto& [x, y] : batches) {
      step(x, y);
      result.images += x.size(0);
      if (detail::now() - start >= o.seconds || result.images >= o.images) break;
    }
    result.seconds = detail::now() - start;
    result.waited += batches.seconds_waited();
    return result;
  };
  if constexpr (requires { set.sizes(); })
    return run(data::loader<Cpu>(crops, options, data::ShardSampler(set.sizes())));
  else return run(data::loader<Cpu>(crops, options, data::RandomSampler(set.size())));
}

template <class F>
Result measure(const Options& o, const F& step) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(o.set))
    if (file.is_regular_file()) prepare(file.path(), o.dropped);
  if (io::exists(o.set + "/pack.json")) return epoch(o, [&] { return data::PackedImages::load(o.set); }, step);
  return epoch(o, [&] { return data::ImageFolder::load(o.set); }, step);
}

void read_batches(const Options& o) {
  measure(o, [](const Tensor<Cpu>&, const Tensor<Cpu, Index>&) {}).print();
}

void train_network(const Options& o) {
  Trainer trainer;
  trainer.step(randn<Cpu>({batch_size, 3, side, side}),
               randint<Cpu>(10, {batch_size}));  // what is made once is made now
  measure(o, [&](const Tensor<Cpu>& x, const Tensor<Cpu, Index>& y) { trainer.step(x, y); }).print();
}

/// All records in the order of a training, by all threads, which compare their checksums.
void read_all(const std::string& shards) {
  const data::RecordSet records(shards);
  const std::vector<Index> order = data::ShardSampler(records.sizes()).order(1, 0);
  detail::parallel_for(Index(order.size()), 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) records[order[std::size_t(i)]];
  });
}

void network(double seconds) {
  Trainer trainer;
  const auto x = randn<Cpu>({batch_size, 3, side, side});
  const auto y = randint<Cpu>(10, {batch_size});
  trainer.step(x, y);
  Result result;
  for (const double start = detail::now(); result.seconds < seconds; result.seconds = detail::now() - start) {
    trainer.step(x, y);
    result.images += batch_size;
  }
  result.print();
}

/// The folder's picture i, and from the beginning again.
data::PackSample picture(const data::ImageFolder& pictures, Index i) {
  const Index k = i % pictures.size();
  const std::string& path = pictures.path(k);
  const std::size_t folder = path.rfind('/', path.rfind('/') - 1);
  return {
      .encoded = io::read_file(path, most_picture_bytes), .label = pictures.label(k), .name = path.substr(folder + 1)};
}

void pack(const std::string& format, Index shards, const std::string& folder, const std::string& out, Index bytes) {
  const auto pictures = data::ImageFolder::load(folder);
  Index samples = pictures.size();
  if (bytes > 0) {
    Index once = 0;
    for (Index i = 0; i < pictures.size(); ++i) once += io::File(pictures.path(i)).size();
    samples = Index(double(bytes) / double(once) * double(samples));
  }
  data::pack_images(
      out,
      {.kind = "imagefolder", .format = format, .shards = shards, .samples = samples, .classes = pictures.classes()},
      [&](Index i) { return picture(pictures, i); });
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string work = argc > 1 ? argv[1] : "";
  if (work == "pack" && argc == 5) return pack(argv[2], 4, argv[3], argv[4], 0), 0;
  if (work == "repeat" && argc == 5)
    return pack("tfrecord", 8, argv[2], argv[3], support::parse_index("BYTES", argv[4], 1)), 0;
  if (work == "network" && argc == 3) return network(support::parse_number("SECONDS", argv[2])), 0;
  if ((work == "read" || work == "train" || work == "all") && argc == 7) {
    support::check_choice("CACHE", argv[3], {"warm", "dropped"});
    const Options o{.set = argv[2],
                    .dropped = std::string(argv[3]) == "dropped",
                    .workers = support::parse_index("WORKERS", argv[4], 0, 1024),
                    .seconds = support::parse_number("SECONDS", argv[5]),
                    .images = support::parse_index("IMAGES", argv[6], 1)};
    if (work == "all") read_all(o.set);
    return (work == "read" ? read_batches : train_network)(o), 0;
  }
  std::fprintf(stderr, "input_study is started by ./benchmarks/run input\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
