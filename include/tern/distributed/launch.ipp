// The functions of launch.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "launch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

TERN_COLD int launched_ranks() {
  // Of Open MPI; of MPICH and those that descend from it; of Slurm's srun by PMIx, which names no number.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (const char* const ranks = std::getenv(name)) return std::max(1, std::atoi(ranks));
  if (!std::getenv("PMIX_RANK")) return 0;
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks ? std::max(1, std::atoi(tasks)) : 1;
}

}}}  // namespace tern::distributed
