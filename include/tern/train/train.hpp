// What trainers are made with: options, progress, receipts, checkpoints.
#pragma once
#include "checkpoint.hpp"
#include "session.hpp"
