// All of tern that is no template, and the instances of templates that most programs use, to be compiled once. A program whose files
// are compiled with -DTERN_COMPILED leaves these to it, and compiles in a third of the time. The options must be the same for all.
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -c include/tern/tern.cpp
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -DTERN_COMPILED program.cpp tern.o -ldnnl -lz
#undef TERN_COMPILED
#define TERN_COMPILING
#include "tern.hpp"

#include "data/cifar.hpp"
#include "data/csv.hpp"
#include "data/stream.hpp"
#include "data/text_lines.hpp"
#include "data/transformed.hpp"
#include "data/transforms.hpp"
#include "device/cuda/graph.hpp"
#include "io/dlpack.hpp"
#include "io/io.hpp"
#include "models/models.hpp"
#include "profile/placement.hpp"
#include "train/train.hpp"
