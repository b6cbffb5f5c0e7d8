#include "support/errors.hpp"

#include <algorithm>
#include <set>

#include <tern/data/collate.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/records/record_set.hpp>
#include <tern/data/records/shard_sampler.hpp>
#include <tern/data/records/tfrecord.hpp>

#include "../../io/temporary_folder.hpp"

namespace data_records_shard_sampler {
using namespace tern;
using data::ShardSampler;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

/// Shards of 7, 1, 12, 0 and 4 records, which hold their numbers.
const std::vector<Index> all_sizes = {7, 1, 12, 0, 4};

std::vector<Index> write_shards(const TemporaryFolder& folder, Index shards) {
  std::int32_t number = 0;
  std::vector<Index> sizes(all_sizes.begin(), all_sizes.begin() + shards);
  for (Index shard = 0; shard < shards; ++shard) {
    data::TFRecordWriter writer(folder / (std::to_string(shard) + ".tfrecord"));
    for (Index i = 0; i < sizes[std::size_t(shard)]; ++i, ++number) writer.write(data::detail::bytes_of(number));
    writer.close();
  }
  return sizes;
}

/// Records as the numbers that they hold.
std::tuple<Tensor<Cpu, Index>> numbers_of(const std::vector<data::Record>& records) {
  const auto numbers = empty<Cpu, Index>({Index(records.size())});
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::int32_t number;
    if (records[i].bytes.size() != sizeof number)
      throw std::runtime_error("a record is not a number");  // Catch is not for threads
    std::memcpy(&number, records[i].bytes.data(), sizeof number);
    numbers.data()[i] = number;
  }
  return {numbers};
}

/// The records of one epoch, from a batch on.
template <class L>
std::vector<Index> epoch(L& batches, Index from = 0) {
  std::vector<Index> records;
  for (auto& [numbers] : batches)
    if (from-- <= 0) records.insert(records.end(), numbers.data(), numbers.data() + numbers.numel());
  return records;
}

std::vector<Index> first_numbers(Index n) { return data::detail::in_sequence(n); }

std::vector<Index> sorted(std::vector<Index> x) {
  std::sort(x.begin(), x.end());
  return x;
}

}  // namespace

TEST_CASE("in each epoch each record belongs to one rank, whoever makes the batches", "[threads]") {
  for (Index shards = 1; shards <= 5; ++shards) {
    const TemporaryFolder folder;
    const std::vector<Index> sizes = write_shards(folder, shards);
    const data::RecordSet set(folder.path());
    REQUIRE(set.sizes() == sizes);
    for (Index ranks = 1; ranks <= 4; ++ranks) {
      std::vector<std::vector<Index>> expected;  // of ranks and epochs, made by no workers
      for (int workers = 0; workers <= 3; ++workers) {
        CAPTURE(shards, ranks, workers);
        std::vector<Index> all[2];
        std::vector<std::vector<Index>> orders;
        for (Index rank = 0; rank < ranks; ++rank) {
          const ShardSampler sampler(sizes, {.buffer = 5, .rank = rank, .ranks = ranks});
          auto batches = data::loader<Cpu>(data::collated(set, &numbers_of),
                                           {.batch_size = 3, .num_workers = workers, .seed = 11}, sampler);
          for (std::vector<Index>& seen : all) {
            orders.push_back(epoch(batches));
            CHECK(Index(orders.back().size()) == sampler.size());
            seen.insert(seen.end(), orders.back().begin(), orders.back().end());
          }
        }
        for (const std::vector<Index>& seen : all) CHECK(sorted(seen) == first_numbers(set.size()));
        if (workers == 0) expected = orders;
        CHECK(orders == expected);
      }
    }
  }
}

TEST_CASE("a loader that goes on in the middle of an epoch reads the same records", "[threads]") {
  const TemporaryFolder folder;
  const std::vector<Index> sizes = write_shards(folder, 5);
  const data::RecordSet set(folder.path());
  const auto make = [&] {
    return data::loader<Cpu>(data::collated(set, &numbers_of), {.batch_size = 5, .num_workers = 2, .seed = 3},
                             ShardSampler(sizes, {.buffer = 6}));
  };
  auto batches = make(), resumed = make();
  epoch(batches);
  const std::vector<Index> second = epoch(batches), third = epoch(batches);
  CHECK(second != third);
  resumed.set_epoch(1);
  CHECK(epoch(resumed, 2) == std::vector<Index>(second.begin() + 10, second.end()));
  CHECK(epoch(resumed) == third);
}

TEST_CASE("the order depends on seed and epoch") {
  const ShardSampler sampler({40, 60}, {.buffer = 16});
  CHECK(sampler.order(1, 0) == ShardSampler({40, 60}, {.buffer = 16}).order(1, 0));
  CHECK(sampler.order(1, 0) != sampler.order(1, 1));
  CHECK(sampler.order(1, 0) != sampler.order(2, 0));
  CHECK(ShardSampler({3, 0, 2}, {.shuffle = false}).order(1, 4) == first_numbers(5));
  CHECK(ShardSampler({3, 0, 2}, {.shuffle = false, .rank = 1, .ranks = 2}).order(1, 4) == std::vector<Index>{1, 3});
  CHECK(ShardSampler({3, 2, 4, 1}, {.shuffle = false, .rank = 1, .ranks = 2}).order(1, 4) ==
        std::vector<Index>{3, 4, 9});
}

TEST_CASE("records are drawn from the buffer, and shards come in random order") {
  constexpr Index shards = 8, size = 50, buffer = 10;
  const ShardSampler sampler(std::vector<Index>(shards, size), {.buffer = buffer});
  std::set<Index> first_shards;
  Index moved = 0;
  for (Index e = 0; e < 100; ++e) {
    const std::vector<Index> order = sampler.order(5, e);
    REQUIRE(sorted(order) == first_numbers(shards * size));
    first_shards.insert(order[0] / size);
    std::vector<Index>
        sequence;  // of the shards, in which a record's place is not more than the buffer behind what was read
    for (const Index record : order)
      if (std::find(sequence.begin(), sequence.end(), record / size) == sequence.end())
        sequence.push_back(record / size);
    for (Index i = 0; i < shards * size; ++i) {
      const Index shard = order[std::size_t(i)] / size;
      const Index place = size * Index(std::find(sequence.begin(), sequence.end(), shard) - sequence.begin()) +
                          order[std::size_t(i)] % size;
      CHECK(place < i + buffer);
      moved += place != i;
    }
  }
  CHECK(Index(first_shards.size()) == shards);
  CHECK(moved > 100 * shards * size / 2);
}

TEST_CASE("a shard sampler refuses what cannot be") {
  CHECK(error_of([] { ShardSampler({1}, {.ranks = 0}); }) == "ShardSampler: ranks must be at least 1, not 0");
  CHECK(error_of([] { ShardSampler({1}, {.rank = 2, .ranks = 2}); }) == "ShardSampler: rank must be in [0, 2), not 2");
  CHECK(error_of([] { ShardSampler({1}, {.buffer = 0}); }) == "ShardSampler: buffer must be at least 1, not 0");
  CHECK(error_of([] { ShardSampler({1, -1}); }) == "ShardSampler: a size must not be negative: -1");
  CHECK(ShardSampler({}).order(1, 0).empty());
}

}  // namespace data_records_shard_sampler
