// The compiled library: all functions of tern that are not templates, and the instances of templates that most programs
// use. A program whose files are compiled with -DTERN_COMPILED uses these, and compiles in a third of the time. All
// files must be compiled with the same options.
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -c include/tern/tern.cpp
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -DTERN_COMPILED -DTERN_SAME_OPTIONS program.cpp tern.o -ldnnl -lz
//
// With TERN_KERNEL_SET it compiles the CPU's kernels for a newer processor instead (cmake/compiled.cmake).
#undef TERN_COMPILED
#ifdef TERN_KERNEL_SET
#define TERN_COMPILED
#else
#define TERN_COMPILING
#endif
#include "tern.hpp"

#include "linalg/linalg.hpp"
#ifndef TERN_KERNEL_SET  // no kernels of their own
#include "data/cifar.hpp"
#include "data/csv.hpp"
#include "data/records/records.hpp"
#include "data/save_image.hpp"
#include "data/stream.hpp"
#include "data/text/text.hpp"
#include "data/text_lines.hpp"
#include "data/transformed.hpp"
#include "data/transforms.hpp"
#include "device/cuda/graph.hpp"
#include "device/cuda/nvtx.hpp"
#include "device/cuda/stream.hpp"
#include "distributed/distributed.hpp"
#include "io/dlpack.hpp"
#include "io/io.hpp"
#include "models/models.hpp"
#include "profile/placement.hpp"
#include "train/train.hpp"
#endif
