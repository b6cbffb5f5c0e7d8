// Training: fit(), and the parts of a loop: options, groups of batches, progress, epoch reports, checkpoints.
#pragma once
#include "accumulation.hpp"
#include "checkpoint.hpp"
#include "fit.hpp"
#include "precision.hpp"
#include "session.hpp"
#include "with_precision.hpp"
