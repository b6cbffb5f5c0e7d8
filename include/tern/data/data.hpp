// Data sets and loaders. Transforms of images are a header of their own, transforms.hpp: not every program pays for them.
#pragma once
#include "cifar.hpp"
#include "dataset.hpp"
#include "digits.hpp"
#include "loader.hpp"
#include "mnist.hpp"
#include "mnist_source.hpp"
#include "samplers.hpp"
#include "subset.hpp"
