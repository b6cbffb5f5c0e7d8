// Data sets and loaders. Include these headers separately, as not every program needs them: transforms.hpp,
// image_file.hpp, image_folder.hpp, save_image.hpp, stream.hpp, csv.hpp, text_lines.hpp and sources.hpp.
#pragma once
#include "cifar.hpp"
#include "collate.hpp"
#include "dataset.hpp"
#include "digits.hpp"
#include "loader.hpp"
#include "mnist.hpp"
#include "mnist_source.hpp"
#include "samplers.hpp"
#include "subset.hpp"
