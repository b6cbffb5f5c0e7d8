// Data sets and loaders.
#pragma once
#include "cifar.hpp"
#include "dataset.hpp"
#include "digits.hpp"
#include "loader.hpp"
#include "mnist.hpp"
#include "mnist_source.hpp"
