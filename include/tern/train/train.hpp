// What trainers are made with: options, progress, epoch reports, checkpoints.
#pragma once
#include "checkpoint.hpp"
#include "session.hpp"
