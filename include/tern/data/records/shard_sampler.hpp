// The order in which records of several shards are read.
#pragma once
#include <vector>

#include "../samplers.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct ShardSamplerOptions {
  bool shuffle = true;
  Index buffer = 1000;  ///< records among which the next one is drawn
  Index rank = 0;       ///< of the process,
  Index ranks = 1;      ///< of so many that share the records
};

/// Shards in random order, each from its beginning to its end, through a buffer from which records are drawn: nearly as
/// good as a shuffle of all records, and a disk is read in sequence. In each epoch every record belongs to one rank. If
/// the number of shards is a multiple of the ranks, a rank reads shards of its own, else every ranks-th record.
///
///   loader<Cpu>(images, {.batch_size = 32, .seed = 1}, ShardSampler(images.sizes(), {.rank = 1, .ranks = 4}));
class TERN_API ShardSampler {
 public:
  explicit ShardSampler(const std::vector<Index>& sizes, const ShardSamplerOptions& options = {}, CallSite here = {});

  Index size() const { return size_; }
  bool needs_seed() const { return options_.shuffle && options_.ranks > 1; }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  struct Shard {
    Index first, size;
  };
  ShardSamplerOptions options_;
  std::vector<Shard> shards_;  // those of this rank
  Index size_ = 0, all_ = 0, stride_ = 1;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "shard_sampler.ipp"
#endif
