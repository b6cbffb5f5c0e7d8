// The functions of communicator.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "communicator.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

TERN_COLD Communicator::Communicator(std::shared_ptr<detail::Ranks> ranks)
    : ranks_(std::move(ranks)), background_(std::make_shared<detail::Background>()) {}

TERN_COLD Communicator Communicator::split(int color, int key, CallSite here) const {
  const CallScope scope({"split", here});
  if (color < 0) Error::fail("split", {"a colour must not be negative: ", color});
  std::shared_ptr<detail::Ranks> part = ranks().split(color, key);
  part->timeout = ranks_->timeout;
  return Communicator(std::move(part));
}

TERN_COLD void Communicator::set_timeout(double seconds, CallSite here) const {
  if (!(seconds > 0)) Error::fail({"set_timeout", here}, {"seconds must be positive, not ", seconds});
  ranks().timeout = seconds;
}

TERN_NOINLINE void Communicator::barrier(CallSite here) const {
  const CallScope scope({"barrier", here});
  detail::Ranks& all = ranks();
  const detail::Exchange listed(tern::detail::Work::wait, "barrier");
  all.barrier();
}

TERN_COLD int launched_ranks() {
  // Of Open MPI; of MPICH and those that descend from it; of Slurm's srun by PMIx, which names no number.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (const char* const ranks = std::getenv(name)) return std::max(1, std::atoi(ranks));
  if (!std::getenv("PMIX_RANK")) return 0;
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks ? std::max(1, std::atoi(tasks)) : 1;
}

}}}  // namespace tern::distributed
