// Layers and containers.
#pragma once
#include "activation.hpp"
#include "dropout.hpp"
#include "embedding.hpp"
#include "layer_norm.hpp"
#include "linear.hpp"
#include "sequential.hpp"
#include "summary.hpp"
