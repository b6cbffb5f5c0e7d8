// The parts of a trainer: options, progress, epoch reports, checkpoints.
#pragma once
#include "checkpoint.hpp"
#include "precision.hpp"
#include "session.hpp"
