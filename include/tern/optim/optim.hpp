// Optimisers and learning-rate schedules.
#pragma once
#include "adam.hpp"
#include "clip_grad_norm.hpp"
#include "rmsprop.hpp"
#include "schedules.hpp"
#include "sgd.hpp"
