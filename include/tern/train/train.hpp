// Training: fit(), its callbacks, and the parts of a loop: groups of batches, epoch reports, checkpoints.
#pragma once
#include "accumulation.hpp"
#include "any_network.hpp"
#include "checkpoint.hpp"
#include "fit.hpp"
