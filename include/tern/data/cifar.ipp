// The functions of cifar.hpp that are not templates.
#pragma once
#include "cifar.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD Index read_cifar_file(const std::string& path, const CifarRecord& record, std::vector<std::uint8_t>& pixels,
                                std::vector<std::uint8_t>& labels) {
  constexpr Index most = 1'000'000;
  const Index bytes = record.label_bytes + cifar_image_bytes;
  io::GzipReader reader(path);
  std::uint8_t buffer[cifar_image_bytes + 2];
  Index count = 0, skipped = 0;
  for (;; ++count) {
    try {
      const Index got = reader.read_some(buffer, bytes);
      if (got == 0) break;
      if (got < bytes)
        Error::fail(record.name, {"'", path, "': is truncated: record ", count, " has ", got, " of ", bytes, " bytes"});
    } catch (const Error&) {  // or the compressed data are corrupt: nothing after this can be read
      if (!record.skip_bad) throw;
      ++skipped;
      break;
    }
    const int label = buffer[record.label_at];
    if (label >= record.classes) {
      if (!record.skip_bad)
        Error::fail(record.name,
                    {"'", path, "': the label of record ", count, " is ", label, ", larger than ", record.classes - 1});
      ++skipped;
      continue;
    }
    if (count == most) Error::fail(record.name, {"'", path, "': has more than ", most, " records"});
    labels.push_back(std::uint8_t(label));
    pixels.insert(pixels.end(), buffer + record.label_bytes, buffer + bytes);
  }
  if (count + skipped == 0) Error::fail(record.name, {"'", path, "': is empty"});
  return skipped;
}

TERN_COLD std::vector<std::string> read_cifar_names(const std::string& path, const CifarRecord& record) {
  std::vector<std::string> names;
  if (!io::exists(path)) return names;
  std::string name;
  for (const char c : io::read_file(path, 1 << 16)) {
    if (c == '\n' && !name.empty()) names.push_back(std::move(name)), name.clear();
    else if (c != '\n' && c != '\r') name += c;
  }
  if (!name.empty()) names.push_back(std::move(name));
  if (Index(names.size()) != record.classes)
    Error::fail(record.name, {"'", path, "': names ", Index(names.size()), " classes, not ", record.classes});
  return names;
}

TERN_COLD CifarRecords read_cifar(const std::vector<std::string>& paths, const std::string& names,
                                  const CifarRecord& record) {
  std::vector<std::uint8_t> pixels, labels;
  Index skipped = 0;
  for (const std::string& path : paths) skipped += read_cifar_file(path, record, pixels, labels);
  const Index n = Index(labels.size());
  if (n == 0) Error::fail(record.name, {"'", paths[0], "': has no record that is whole"});
  CifarRecords out{empty<Cpu, std::uint8_t>({n, 3, 32, 32}), empty<Cpu, Index>({n}), {}, skipped};
  std::memcpy(out.images.data(), pixels.data(), pixels.size());
  for (Index i = 0; i < n; ++i) out.labels.data()[i] = labels[std::size_t(i)];
  out.classes = read_cifar_names(names, record);
  return out;
}

TERN_COLD std::vector<std::string> cifar10_files(const std::string& folder, bool train) {
  if (!train) return {plain_or_gzip("Cifar10", folder, "test_batch.bin")};
  std::vector<std::string> paths = {plain_or_gzip("Cifar10", folder, "data_batch_1.bin")};
  int last = 5;
  while (last > 1 && find_plain_or_gzip(folder, tern::detail::text({"data_batch_", last, ".bin"})).empty()) --last;
  for (int i = 2; i <= last; ++i)
    paths.push_back(plain_or_gzip("Cifar10", folder, tern::detail::text({"data_batch_", i, ".bin"})));
  return paths;
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD Cifar10 Cifar10::load(const std::string& folder, const Cifar10Options& options, CallSite here) {
  const CallScope scope(here);
  return Cifar10(
      detail::read_cifar(detail::cifar10_files(folder, options.train),
                         tern::detail::text({folder, "/batches.meta.txt"}), {"Cifar10", 1, 0, 10, options.skip_bad}),
      options);
}

TERN_COLD Cifar10::Cifar10(detail::CifarRecords&& records, const Cifar10Options& options)
    : ByteImages("Cifar10", records.images, records.labels, options.mean, options.std),
      classes_(std::move(records.classes)), skipped_(records.skipped) {}

TERN_COLD Cifar100 Cifar100::load(const std::string& folder, const Cifar100Options& options, CallSite here) {
  const CallScope scope(here);
  const std::string path = detail::plain_or_gzip("Cifar100", folder, options.train ? "train.bin" : "test.bin");
  const char* const names = options.coarse ? "/coarse_label_names.txt" : "/fine_label_names.txt";
  return Cifar100(
      detail::read_cifar({path}, tern::detail::text({folder, names}),
                         {"Cifar100", 2, options.coarse ? 0 : 1, options.coarse ? 20 : 100, options.skip_bad}),
      options);
}

TERN_COLD Cifar100::Cifar100(detail::CifarRecords&& records, const Cifar100Options& options)
    : ByteImages("Cifar100", records.images, records.labels, options.mean, options.std),
      classes_(std::move(records.classes)), skipped_(records.skipped) {}

}}}  // namespace tern::data
