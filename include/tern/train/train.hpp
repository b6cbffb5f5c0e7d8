// The parts of a trainer: options, groups of batches, progress, epoch reports, checkpoints.
#pragma once
#include "accumulation.hpp"
#include "checkpoint.hpp"
#include "precision.hpp"
#include "session.hpp"
