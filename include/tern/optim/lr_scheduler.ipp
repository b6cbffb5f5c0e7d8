// The functions of lr_scheduler.hpp that are not templates.
#pragma once
#include "lr_scheduler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

namespace detail {
TERN_INLINE std::vector<double> rates(const Optimizer& optimizer) {
  std::vector<double> list;
  for (std::size_t group = 0; group < optimizer.group_count(); ++group) list.push_back(optimizer.lr(group));
  return list;
}
}  // namespace detail

TERN_INLINE StateDict LRScheduler::state_dict() const {
  StateDict dict;
  tern::detail::append(dict, {"last_epoch"}, full<Cpu, Index>({}, epoch_));
  return dict;
}

TERN_COLD Index LRScheduler::read(const StateDict& dict) const {
  detail::StateReader reader("load_state_dict", dict, "schedule");
  const Index epoch = reader.count({"last_epoch"});
  reader.expect_end();
  check_epoch(epoch);
  return epoch;
}

}}}  // namespace tern::optim
