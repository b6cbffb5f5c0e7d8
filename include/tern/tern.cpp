// All of tern that is no template, and the instances of templates that most programs use, to be compiled once: a program whose
// files are compiled with -DTERN_COMPILED leaves these to it, and compiles in half the time. Any g++; the options must be the
// same for all.
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -c include/tern/tern.cpp
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -DTERN_COMPILED program.cpp tern.o -ldnnl -lz
// What GCC calls "declarations and definitions in one header" does it: https://gcc.gnu.org/onlinedocs/gcc/C_002b_002b-Interface.html
#ifndef TERN_COMPILED
#define TERN_COMPILED
#endif
#define TERN_COMPILING
#pragma implementation "tern"
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
