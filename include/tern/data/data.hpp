// Data sets and loaders. Headers of their own, which not every program needs: transforms.hpp, image_folder.hpp,
// collate.hpp, stream.hpp, csv.hpp and text_lines.hpp.
#pragma once
#include "cifar.hpp"
#include "dataset.hpp"
#include "digits.hpp"
#include "loader.hpp"
#include "mnist.hpp"
#include "mnist_source.hpp"
#include "samplers.hpp"
#include "subset.hpp"
