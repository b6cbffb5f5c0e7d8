// Optimisers and learning-rate schedules.
#pragma once
#include "adadelta.hpp"
#include "adagrad.hpp"
#include "adam.hpp"
#include "clip_grad.hpp"
#include "lbfgs.hpp"
#include "moving_average.hpp"
#include "muon.hpp"
#include "nadam.hpp"
#include "radam.hpp"
#include "rmsprop.hpp"
#include "schedules.hpp"
#include "sgd.hpp"
