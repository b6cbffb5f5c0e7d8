// The line in Errors of data sets, samplers, transforms and files: that of the user's call.
#include "../io/temporary_folder.hpp"
#include "support/tensors.hpp"

#include <tern/data/csv.hpp>
#include <tern/data/data.hpp>
#include <tern/data/records/records.hpp>
#include <tern/data/sources.hpp>
#include <tern/data/stream.hpp>
#include <tern/data/text/text.hpp>
#include <tern/data/text_lines.hpp>
#include <tern/data/transforms.hpp>
#include <tern/io/dlpack.hpp>
#include <tern/io/io.hpp>
#include <tern/io/safetensors_shards.hpp>
#include <tern/train/accumulation.hpp>

namespace data_lines {
using namespace tern_test;

TEST_CASE("an Error of a data set, sampler or transform that is made ends with the user's line") {
  using namespace data;
  using namespace data::transforms;
  const TensorDataset set(ones<Cpu>({8, 3}));
  const std::vector<std::tuple<Tensor<Cpu>, Index>> stream(8, {ones<Cpu>({3}), 1});
  TERN_TEST_LINE(TensorDataset(ones<Cpu>({8, 3}), ones<Cpu>({7})));
  TERN_TEST_LINE(Subset(set, {9}));
  TERN_TEST_LINE(random_split(set, {0.9, 0.3}));
  TERN_TEST_LINE(loader<Cpu>(set, {.batch_size = 0}));
  TERN_TEST_LINE(loader<Cpu>(set, {.shuffle = true}, SequentialSampler(8)));
  TERN_TEST_LINE(loader<Cpu>(stream, {.shuffle = true}));
  TERN_TEST_LINE(loader<Cpu>(set, 0, true));
  TERN_TEST_LINE(loader<Cpu>(stream, 0));
  TERN_TEST_LINE(set[8]);
  TERN_TEST_LINE(Subset(set, {3})[1]);
  TERN_TEST_LINE(collated(set)[8]);
  TERN_TEST_LINE(RandomSampler(0, {.num_samples = 1}));
  TERN_TEST_LINE(WeightedRandomSampler({-1.0}, 1));
  TERN_TEST_LINE(LengthSampler({1, 2}, 0));
  TERN_TEST_LINE(DistributedSampler(8, {.rank = 1}));
  TERN_TEST_LINE(RandomCrop(0));
  TERN_TEST_LINE(CenterCrop(0));
  TERN_TEST_LINE(Resize(0));
  TERN_TEST_LINE(RandomResizedCrop(0));
  TERN_TEST_LINE(RandomHorizontalFlip(2));
  TERN_TEST_LINE(RandomVerticalFlip(2));
  TERN_TEST_LINE(Cutout(0));
  TERN_TEST_LINE(Normalize({0.5f}, {0.f}));
  TERN_TEST_LINE(ColorJitter({.hue = 2}));
  TERN_TEST_LINE(MixUp({.num_classes = 0}));
  TERN_TEST_LINE(CutMix({.num_classes = 0}));
  TERN_TEST_LINE(TextWindows({1, 2}, {.length = 0}));
  TERN_TEST_LINE(LabelledSequences({{1}}, {1, 2}));
  TERN_TEST_LINE(Vocabulary({"a", "a"}));
  TERN_TEST_LINE(train::Accumulation(0, 1, 1));
  TERN_TEST_LINE(random_split(set, {0.5, 0.5})[2]);
}

TEST_CASE("an Error of a sample that a data set does not have ends with the user's line") {
  using namespace data;
  const auto batch_of = [](const auto& set, Index sample) {
    const CallSite here;
    return line_of(whole_error_of([&] { set.batch(std::vector{sample}, here); })) ==
           " (lines.cpp:" + std::to_string(here.line()) + ")";
  };
  const auto bytes = ones<Cpu, std::uint8_t>({2, 28, 28});
  const auto labels = zeros<Cpu, Index>({2});
  const TensorDataset set(ones<Cpu>({2, 3}));
  const Mnist digits(bytes, labels);
  const Subset part(set, {1, 0});
  const std::vector<std::tuple<Tensor<Cpu>, Index>> list(2, {ones<Cpu>({3}), 1});
  const auto flipped = transformed(digits, transforms::RandomHorizontalFlip());
  for (const Index sample : {-1, 2}) {
    CHECK(batch_of(set, sample));
    CHECK(batch_of(digits, sample));
    CHECK(batch_of(part, sample));
    CHECK(batch_of(ConcatDataset(TensorDataset(ones<Cpu>({1, 3})), TensorDataset(ones<Cpu>({1, 3}))), sample));
    CHECK(batch_of(collated(list), sample));
    CHECK(batch_of(flipped, sample));
    CHECK(batch_of(TextWindows({1, 2, 3}, {.length = 1}), sample));
    CHECK(batch_of(LabelledSequences({{1}, {2}}, {1, 2}), sample));
  }
  Image image;
  TERN_TEST_LINE(digits.label(2));
  TERN_TEST_LINE(digits.read(2, image));
  TERN_TEST_LINE(Subset(digits, {0}).label(1));
  TERN_TEST_LINE(Subset(digits, {0}).read(-1, image));
}

TEST_CASE("an Error of a file of arrays ends with the user's line") {
  using namespace io;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", text = folder.put("text", "text"), in_text = text + "/file";
  const auto x = ones<Cpu>({2});
  save_npz(folder / "x.npz", {{"x", x}});
  save_safetensors(folder / "x.safetensors", {{"x", x}});
  const Npz npz(folder / "x.npz");
  const Safetensors tensors(folder / "x.safetensors");
  dlpack::DLManagedTensor of_no_type{};
  dlpack::DLManagedTensorVersioned of_no_version{};
  TERN_TEST_LINE(save_npy(in_text, x));
  TERN_TEST_LINE(load_npy(missing));
  TERN_TEST_LINE(load_npy<float>(text));
  TERN_TEST_LINE(Npz(missing));
  TERN_TEST_LINE(Npz(text));
  TERN_TEST_LINE(npz.dtype("y"));
  TERN_TEST_LINE(npz.shape("y"));
  TERN_TEST_LINE(npz.load("y"));
  TERN_TEST_LINE(npz.load<float>("y"));
  TERN_TEST_LINE(save_npz(folder / "x.npz", {{"x", x}, {"x", x}}));
  TERN_TEST_LINE(load_npz(text));
  TERN_TEST_LINE(save_safetensors(in_text, {}));
  TERN_TEST_LINE(Safetensors(missing));
  TERN_TEST_LINE(Safetensors(text));
  TERN_TEST_LINE(tensors.dtype("y"));
  TERN_TEST_LINE(tensors.shape("y"));
  TERN_TEST_LINE(tensors.load("y"));
  TERN_TEST_LINE(tensors.load<float>("y"));
  TERN_TEST_LINE(load_safetensors(missing));
  TERN_TEST_LINE(safetensors_metadata(text));
  TERN_TEST_LINE(load_safetensors_shards(missing));
  TERN_TEST_LINE(to_dlpack(ones<Cpu>({2}).requires_grad_()));
  TERN_TEST_LINE(to_dlpack_unversioned(ones<Cpu>({2}).requires_grad_()));
  TERN_TEST_LINE(from_dlpack(&of_no_type));
  TERN_TEST_LINE(from_dlpack(&of_no_version));
  TERN_TEST_LINE(File(missing));
  TERN_TEST_LINE(MappedFile(missing));
  TERN_TEST_LINE(AtomicFile(in_text));
  TERN_TEST_LINE(make_folders(in_text));
  TERN_TEST_LINE(read_file(text, 1));
  TERN_TEST_LINE(check_writable(in_text));
  TERN_TEST_LINE(write_file_atomically(in_text, ""));
  TERN_TEST_LINE(GzipReader(missing));
  TERN_TEST_LINE(read_gzip(text, 1));
}

TEST_CASE("an Error of a data set's files ends with the user's line") {
  using namespace data;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", text = folder.put("text", "text");
  const auto table = Csv::load(folder.put("x.csv", "a,b\n1,x\n"));
  TERN_TEST_LINE(Csv::load(missing));
  TERN_TEST_LINE(Csv::load(folder.put("ragged.csv", "a,b\n1\n")));
  TERN_TEST_LINE(table.field(9, 0));
  TERN_TEST_LINE(table.text("c"));
  TERN_TEST_LINE(table.column("b"));
  TERN_TEST_LINE(table.columns({"a", "b"}));
  TERN_TEST_LINE(table.categories("c"));
  TERN_TEST_LINE(TextLines::load(missing));
  TERN_TEST_LINE(TextLines::load(text)[1]);
  TERN_TEST_LINE(Mnist(ones<Cpu, std::uint8_t>({2, 3}), ones<Cpu, Index>({2})));
  TERN_TEST_LINE(Mnist::load(folder.path()));
  TERN_TEST_LINE(mnist_source({.folder = text + "/folder"}));
  TERN_TEST_LINE(Cifar10::load(folder.path()));
  TERN_TEST_LINE(Cifar100::load(folder.path()));
  TERN_TEST_LINE(read_idx(text, {2}));
  TERN_TEST_LINE(cifar10_source({.folder = missing}));
  TERN_TEST_LINE(imdb_source({.folder = missing}));
  TERN_TEST_LINE(nietzsche_source({.folder = missing}));
  TERN_TEST_LINE(collated(std::vector<std::tuple<Tensor<Cpu>>>{{ones<Cpu>({2})}, {ones<Cpu>({3})}})
                     .batch(std::vector<Index>{0, 1}));
}

TEST_CASE("an Error of text ends with the user's line") {
  using namespace data;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", text = folder.put("text", "text");
  Vocabulary vocabulary({"a", "b"});
  TERN_TEST_LINE(BytePairEncoding::load(missing));
  TERN_TEST_LINE(BytePairEncoding::load(text));
  TERN_TEST_LINE(BytePairEncoding::load(missing, missing));
  TERN_TEST_LINE(split_characters("\xff"));
  TERN_TEST_LINE(Imdb(folder.path()));
  TERN_TEST_LINE(Ptb::load(folder.path()));
  TERN_TEST_LINE(pad_sequences(std::vector<Tokens>{{1}}, {.length = -1}));
  TERN_TEST_LINE(batchify({1, 2}, 0));
  TERN_TEST_LINE(vocabulary["c"]);
  TERN_TEST_LINE(vocabulary[std::string("c")]);
  TERN_TEST_LINE(vocabulary.lookup_indices({"c"}));
  TERN_TEST_LINE(vocabulary.lookup_token(2));
  TERN_TEST_LINE(vocabulary.set_default_index(2));
  TERN_TEST_LINE(vocabulary.save(text + "/file"));
  TERN_TEST_LINE(Vocabulary::load(missing));
}

TEST_CASE("an Error of files of records ends with the user's line") {
  using namespace data;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", text = folder.put("text", "text"), in_text = text + "/file";
  const Example empty;
  const ImageRecord pixels{.pixels = "rgb"};
  const TFRecordFile damaged(folder.put("x.tfrecord", "text"));
  RecordPosition at;
  Record record;
  TFRecordWriter tfrecord(folder / "new.tfrecord");
  RecordIOWriter recordio(folder / "new.rec");
  TarWriter tar(folder / "new.tar");
  TERN_TEST_LINE(parse_datum("text"));
  TERN_TEST_LINE(Example::parse("text"));
  TERN_TEST_LINE(empty.bytes("x"));
  TERN_TEST_LINE(empty.floats("x"));
  TERN_TEST_LINE(empty.integers("x"));
  TERN_TEST_LINE(LmdbFile(missing));
  TERN_TEST_LINE(RecordIOFile(missing));
  TERN_TEST_LINE(TarFile(missing));
  TERN_TEST_LINE(TFRecordFile(missing));
  TERN_TEST_LINE(damaged.next(at, record));
  TERN_TEST_LINE(damaged.skip(at));
  TERN_TEST_LINE(RecordIOWriter(in_text));
  TERN_TEST_LINE(TarWriter(in_text));
  TERN_TEST_LINE(TFRecordWriter(in_text));
  TERN_TEST_LINE(tfrecord.write_image(pixels));
  TERN_TEST_LINE(recordio.write_image(pixels));
  TERN_TEST_LINE(tar.write_image(pixels));
  TERN_TEST_LINE(tar.write("a.b", {}));
  TERN_TEST_LINE(open_records(missing));
  TERN_TEST_LINE(shard_paths("{3..1}.tar"));
  TERN_TEST_LINE(RecordSet(missing));
  TERN_TEST_LINE(RecordSet(folder / "x.tfrecord", {.skip_bad = true})[0]);
  TERN_TEST_LINE(ShardSampler({1}, {.ranks = 0}));
}

namespace {

/// A data set whose samples cannot be read.
struct Unreadable {
  Index size() const { return 4; }
  std::tuple<Tensor<Cpu>> batch(std::span<const Index>) const { return {ones<Cpu>({2}) + ones<Cpu>({3})}; }
};
struct OutOfRange {
  Index size() const { return 1; }
  std::vector<Index> order(std::uint64_t, Index) const { return {9}; }
};

}  // namespace

TEST_CASE("an Error of a loop over a loader ends with the line that made the loader") {
  using namespace data;
  for (const int workers : {0, 1}) {
    auto unordered = loader<Cpu>(Unreadable(), {.num_workers = workers}, OutOfRange());
    CHECK(line_of(whole_error_of([&] { unordered.begin(); })) == " (lines.cpp:" + std::to_string(__LINE__ - 1) + ")");
    auto batches = loader<Cpu>(Unreadable(), {.num_workers = workers});
    CHECK(line_of(whole_error_of([&] {
            for (auto& [x] : batches) x.sum();
          })) == " (lines.cpp:" + std::to_string(__LINE__ - 3) + ")");
    TERN_TEST_LINE(batches.set_state({.epoch = -1}));
    TERN_TEST_LINE(batches.check({.batch = 9}));
  }
}

}  // namespace data_lines
