// The functions of sharded.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstring>
#include <numeric>

#include "../tensor/creation.hpp"
#include "sharded.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

using distributed::detail::TensorFromRoot;

inline bool has_gradient(const Slot& slot) {
  const tern::detail::Node* const node = slot.parameter.impl()->node;
  return node && node->gradient;
}

/// What all ranks must have alike of a parameter.
TERN_COLD std::string described(const Slot& slot) {
  const tern::detail::TensorImpl& p = *slot.parameter.impl();
  std::string words = tern::detail::text({slot.name, " of ", tern::detail::name_of(p.dtype), " ", p.shape_ref()});
  if (!p.contiguous) words += tern::detail::text({" with strides ", tern::detail::ShapeRef{p.strides, p.ndim}});
  return words;
}

/// The line of a text in which a position is.
TERN_COLD std::string line_at(const std::string& lines, std::size_t position) {
  const std::size_t begin = position ? lines.rfind('\n', position - 1) + 1 : 0;
  return begin < lines.size() ? lines.substr(begin, lines.find('\n', begin) - begin) : "no more";
}

class RankShards final : public Shards {
 public:
  RankShards(const distributed::Communicator& communicator, std::unique_ptr<distributed::detail::ParallelDevice> device,
             const char* device_name)
      : Shards(communicator.rank()), communicator_(communicator), device_(std::move(device)),
        device_name_(device_name) {}

  void assign(std::vector<Slot>& state_slots, std::size_t first) override {
    std::string own;
    for (std::size_t i = first; i < state_slots.size(); ++i) {
      const Slot& slot = state_slots[i];
      if (std::strcmp(slot.parameter.device_name(), device_name_) != 0)
        Error::fail("Sharded", {"parameter ", slot.name, " is on ", slot.parameter.device_name(), ", the first one on ",
                                device_name_});
      if (!tern::detail::is_dense(*slot.parameter.impl()))
        Error::fail("Sharded", {"parameter ", slot.name, " has gaps in memory"});
      own += described(slot) + "\n";
    }
    check_same(own);
    const auto bytes = [&](std::size_t i) {
      return state_slots[i].parameter.numel() * tern::detail::size_of(state_slots[i].parameter.dtype());
    };
    std::vector<Index> loads(std::size_t(communicator_.size()));
    for (std::size_t i = 0; i < first; ++i) loads[std::size_t(state_slots[i].owner)] += bytes(i);
    std::vector<std::size_t> order(state_slots.size() - first);
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bytes(a) > bytes(b); });
    for (const std::size_t i : order) {
      const auto least = std::min_element(loads.begin(), loads.end());
      state_slots[i].owner = int(least - loads.begin());
      *least += bytes(i);
    }
  }

  void before_step(const std::vector<Slot>& state_slots) override {
    tern::detail::refuse_capture("step", "ranks do not replay a graph together");
    const CallScope scope({"step", CallSite::unknown});
    const Index n = Index(state_slots.size());
    const auto some = zeros<Cpu, std::uint8_t>({2, n});  // 1 where this rank has a gradient; 1 where it has none
    for (Index i = 0; i < n; ++i) some.data()[has_gradient(state_slots[std::size_t(i)]) ? i : n + i] = 1;
    communicator_.ranks().all_reduce(*some.impl(), *some.impl(), distributed::ReduceOp::max);
    for (Index i = 0; i < n; ++i)
      if (some.data()[i] && some.data()[n + i])
        Error::fail("step", {"some ranks have a gradient of ", state_slots[std::size_t(i)].name, ", others have none"});
  }

  void after_step(const std::vector<Slot>& state_slots) override {
    const CallScope scope({"step", CallSite::unknown});
    std::vector<TensorFromRoot> stepped;
    for (const Slot& slot : state_slots)
      if (has_gradient(slot)) stepped.push_back({slot.parameter.impl(), slot.owner});
    device_->broadcast_together(stepped);
    for (const Slot& slot : state_slots)
      if (has_gradient(slot) && slot.owner != rank) tern::detail::bump_version(slot.parameter.impl());
  }

  /// One slot after the other, so that a device's memory need not hold them all.
  std::vector<Slot> gathered(const std::vector<Slot>& state_slots) override {
    const CallScope scope({"state_dict", CallSite::unknown});
    struct Known {
      Index steps, masters, states;
    };
    std::vector<Known> known(state_slots.size());
    for (std::size_t i = 0; i < state_slots.size(); ++i)
      if (state_slots[i].owner == rank)
        known[i] = {state_slots[i].steps - skipped_steps(state_slots[i]), state_slots[i].master.defined(),
                    Index(state_slots[i].state.size())};
    const tern::detail::Array counts = distributed::detail::numbers(&known[0].steps, Index(3 * known.size()));
    communicator_.ranks().all_reduce(counts, counts, distributed::ReduceOp::sum);
    std::vector<Slot> all = state_slots;
    for (std::size_t i = 0; i < state_slots.size(); ++i) {
      Slot& slot = all[i];
      slot.steps = known[i].steps;
      slot.skipped = {};
      if (known[i].masters && !slot.master.defined()) slot.master = slot.ops->zeros(slot.parameter);
      while (Index(slot.state.size()) < known[i].states) slot.state.push_back(slot.ops->zeros(slot.parameter));
      std::vector<TensorFromRoot> parts;
      if (slot.master.defined()) parts.push_back({slot.master.impl(), slot.owner});
      for (const AnyTensor& state : slot.state) parts.push_back({state.impl(), slot.owner});
      device_->broadcast_together(parts);
      if (slot.master.defined()) slot.master = slot.master.cpu();
      for (AnyTensor& state : slot.state) state = state.cpu();
    }
    return all;
  }

 private:
  /// Error unless all ranks give the same lines.
  void check_same(const std::string& own) const {
    distributed::detail::Ranks& ranks = communicator_.ranks();
    Index words = Index(own.size() / sizeof(Index) + 1);  // with the text's end
    ranks.all_reduce(distributed::detail::numbers(&words, 1), distributed::detail::numbers(&words, 1),
                     distributed::ReduceOp::max);
    std::vector<Index> mine(std::size_t(words), 0), all(std::size_t(words * communicator_.size()), 0);
    std::memcpy(mine.data(), own.data(), own.size());
    ranks.all_gather(distributed::detail::numbers(mine.data(), words),
                     distributed::detail::numbers(all.data(), Index(all.size())));
    const auto lines_of = [&](int of) {
      return std::string(reinterpret_cast<const char*>(&all[std::size_t(of * words)]));
    };
    const std::string first = lines_of(0);
    for (int other = 1; other < communicator_.size(); ++other) {
      const std::string lines = lines_of(other);
      if (lines == first) continue;
      const auto at =
          std::size_t(std::mismatch(first.begin(), first.end(), lines.begin(), lines.end()).first - first.begin());
      Error::fail("Sharded", {"the ranks have different parameters: rank 0 has ", line_at(first, at), "; rank ", other,
                              " has ", line_at(lines, at)});
    }
  }

  distributed::Communicator communicator_;
  std::unique_ptr<distributed::detail::ParallelDevice> device_;
  const char* device_name_;
};

TERN_COLD std::unique_ptr<Shards> shards_of(const distributed::Communicator& communicator,
                                            std::unique_ptr<distributed::detail::ParallelDevice> device,
                                            const char* device_name) {
  return std::make_unique<RankShards>(communicator, std::move(device), device_name);
}

}}}  // namespace tern::optim::detail
