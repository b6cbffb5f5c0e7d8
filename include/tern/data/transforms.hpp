// Transforms of training images.
#pragma once
#include "transformed.hpp"
#include "transforms/colour.hpp"
#include "transforms/crop.hpp"
#include "transforms/cutout.hpp"
#include "transforms/flip.hpp"
#include "transforms/mix.hpp"
#include "transforms/resize.hpp"
