// Packed pictures read without being decoded, and packed: 2,000 JPEGs in one file of each format, about 90 MB, which
// the system has in its cache. One thread. benchmarks/run makes the pictures and names their folder in TERN_PICTURES;
// the files of records are made beside it.
#include <benchmark/benchmark.h>
#include <tern/data/folder.hpp>
#include <tern/data/records/lmdb_writer.hpp>
#include <tern/data/records/records.hpp>
#include <tern/io/file.hpp>
#include <tern/tern.hpp>

#include <cstdlib>

namespace {

using namespace tern;

constexpr Index most_picture_bytes = Index(1) << 30;

std::string pictures() {
  const char* const folder = std::getenv("TERN_PICTURES");
  if (!folder) throw std::runtime_error("TERN_PICTURES names no folder of pictures; start this by benchmarks/run");
  return folder;
}

/// Writes all pictures, folder by folder.
void pack(data::RecordWriter& writer) {
  const std::string root = pictures();
  Index label = 0;
  for (const std::string& folder : data::detail::names_in("records", root)) {
    for (const std::string& name : data::detail::names_in("records", root + "/" + folder)) {
      const std::string path = folder + "/" + name, encoded = io::read_file(root + "/" + path, most_picture_bytes);
      writer.write_image({.encoded = encoded, .label = label, .name = path, .class_name = folder});
    }
    ++label;
  }
  writer.close();
}

/// The file of a format, packed at the first use.
template <class Writer>
std::string packed(const char* ending) {
  const std::string folder = pictures() + ".packed", path = folder + "/pictures." + ending;
  io::make_folders(folder);
  if (io::exists(path)) return path;
  Writer writer(path);
  pack(writer);
  return path;
}

/// A sum of all bytes, 64 at a time and fetched ahead: the least that shows that each was there.
std::uint64_t touched(std::string_view bytes) {
  constexpr int ahead = 4096;
  std::uint64_t sums[8] = {}, words[8], sum = 0;
  for (; bytes.size() >= sizeof words; bytes.remove_prefix(sizeof words)) {
    __builtin_prefetch(bytes.data() + ahead);
    std::memcpy(words, bytes.data(), sizeof words);
    for (int i = 0; i < 8; ++i) sums[i] += words[i];
  }
  for (const std::uint64_t part : sums) sum += part;
  for (const char byte : bytes) sum += static_cast<unsigned char>(byte);
  return sum;
}

/// f(state), or the error's message as the row's.
template <class F>
void or_skip(benchmark::State& state, const F& f) {
  try {
    f();
  } catch (const std::exception& error) { state.SkipWithError(error.what()); }
}

/// Opens a file and reads its records from the first to the last. TFRecordFile compares checksums, for which it reads
/// all bytes.
template <class File, class Writer>
void read_records(benchmark::State& state, const char* ending, bool touch) {
  or_skip(state, [&] {
    const std::string path = packed<Writer>(ending);
    for (auto _ : state) {
      const File file(path);
      std::uint64_t sum = 0;
      data::RecordPosition at;
      for (data::Record record; file.next(at, record);) sum += touch ? touched(record.bytes) : record.bytes.size();
      benchmark::DoNotOptimize(sum);
    }
  });
}

void read_tfrecord(benchmark::State& state) {
  read_records<data::TFRecordFile, data::TFRecordWriter>(state, "tfrecord", false);
}
void read_recordio(benchmark::State& state) {
  read_records<data::RecordIOFile, data::RecordIOWriter>(state, "rec", true);
}
void read_tar(benchmark::State& state) { read_records<data::TarFile, data::TarWriter>(state, "tar", true); }
void read_lmdb(benchmark::State& state) { read_records<data::LmdbFile, data::LmdbWriter>(state, "lmdb", true); }

/// The yardstick of the rows above: the TFRecord file by read(2), in blocks of 1 MB into one buffer, whose bytes are
/// touched too.
void read_plain(benchmark::State& state) {
  or_skip(state, [&] {
    const std::string path = packed<data::TFRecordWriter>("tfrecord");
    std::string block(1 << 20, '\0');
    for (auto _ : state) {
      io::File file(path);
      std::uint64_t sum = 0;
      while (const Index n = file.read(block.data(), Index(block.size())))
        sum += touched({block.data(), std::size_t(n)});
      benchmark::DoNotOptimize(sum);
    }
  });
}

/// The pictures' files to a tar shard of jpg, cls and filename.txt. The shard is complete on the disk when close()
/// returns.
void pack_tar_to(benchmark::State& state, const std::string& path) {
  or_skip(state, [&] {
    for (auto _ : state) {
      data::TarWriter writer(path);
      pack(writer);
    }
    ::unlink(path.c_str());
  });
}
void pack_tar(benchmark::State& state) {
  or_skip(state, [&] { pack_tar_to(state, pictures() + ".packed.tar"); });
}
/// Without a disk.
void pack_tar_in_memory(benchmark::State& state) { pack_tar_to(state, "/dev/shm/tern-pictures.tar"); }

#define TERN_RECORDS(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()
TERN_RECORDS(read_tfrecord);
TERN_RECORDS(read_recordio);
TERN_RECORDS(read_tar);
TERN_RECORDS(read_lmdb);
TERN_RECORDS(read_plain);
TERN_RECORDS(pack_tar);
TERN_RECORDS(pack_tar_in_memory);

}  // namespace
