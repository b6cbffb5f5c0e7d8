// The compiled library: all functions of tern that are not templates, and the instances of templates that most programs
// use. A program whose files are compiled with -DTERN_COMPILED uses these, and compiles in a third of the time. All
// files must be compiled with the same options.
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -c include/tern/tern.cpp
//     g++ -std=c++20 -O2 -march=native -fopenmp -Iinclude -DTERN_COMPILED -DTERN_SAME_OPTIONS program.cpp tern.o -ldnnl
//     -lz
//
// With TERN_PART_KERNELS, _BFLOAT16 (kernels of networks in bfloat16), _INSTANCES, _CUDA (instances for Cuda, and what
// uses them), _FOUNDATION, _TRAINING, _EXTRAS or _LINALG it compiles that part alone: side by side they take less time,
// and not every program needs all (cmake/in_tree). With TERN_KERNEL_SET it compiles the CPU's kernels for a newer
// processor instead (cmake/compiled.cmake).
#if defined(TERN_PART_KERNELS) || defined(TERN_PART_BFLOAT16) || defined(TERN_PART_INSTANCES) || \
    defined(TERN_PART_CUDA) || defined(TERN_PART_FOUNDATION) || defined(TERN_PART_TRAINING) ||   \
    defined(TERN_PART_EXTRAS) || defined(TERN_PART_LINALG)
#define TERN_PART
#endif
#if !defined(TERN_KERNEL_SET)
#define TERN_COMPILING
#endif
#if !defined(TERN_PART) || defined(TERN_PART_KERNELS)
#define TERN_COMPILING_KERNELS
#endif
#if !defined(TERN_PART) || defined(TERN_PART_INSTANCES)
#define TERN_COMPILING_INSTANCES
#endif
#if !defined(TERN_KERNEL_SET) && (!defined(TERN_PART) || defined(TERN_PART_CUDA))
#define TERN_COMPILING_CUDA_INSTANCES
#endif
// Where TERN_COMPILED is not defined, a header includes its functions. No layer includes a higher one, so the parts
// meet nowhere.
#undef TERN_COMPILED
#if defined(TERN_KERNEL_SET) || (defined(TERN_PART) && !defined(TERN_PART_FOUNDATION))
#define TERN_COMPILED
#endif
// The foundation: the layers up to the ops. Cuda comes first, so that instances for it can be named.
#include "cuda.hpp"

#include "autograd/backward.hpp"
#include "autograd/checkpoint.hpp"
#include "functional/derivatives.hpp"
#include "functional/gradcheck.hpp"
#include "ops/ops.hpp"
#include "tensor/any_tensor.hpp"
#include "tensor/creation.hpp"
#include "tensor/print.hpp"
#include "tensor/with_device.hpp"

#if !defined(TERN_PART_FOUNDATION) && !defined(TERN_PART_KERNELS) && \
    !defined(TERN_PART_BFLOAT16)  // training: layers, optimisers, loaders, what a trainer does with them
#ifdef TERN_PART_TRAINING
#undef TERN_COMPILED
#endif
#include "distributed/distributed.hpp"
#include "tern.hpp"
#include "profile/trace.hpp"
#include "train/train.hpp"

#if !defined(TERN_PART) || \
    defined(TERN_PART_LINALG)  // linear algebra with its kernels, and distributions, which take it
#ifdef TERN_PART_LINALG
#undef TERN_COMPILED
#undef TERN_NO_KERNELS
#undef TERN_LIBRARY_KERNEL
#define TERN_LIBRARY_KERNEL TERN_PART_KERNEL
#endif
#include "linalg/linalg.hpp"
#include "linalg/lstsq.hpp"

#include "distributions.hpp"
#endif

#if !defined(TERN_KERNEL_SET) && \
    (!defined(TERN_PART) || defined(TERN_PART_EXTRAS))  // extras: models, more data and files
#ifdef TERN_PART_EXTRAS
#undef TERN_COMPILED
#endif
#include "data/cifar.hpp"
#include "data/csv.hpp"
#include "data/records/records.hpp"
#include "data/save_image.hpp"
#include "data/sources.hpp"
#include "data/stream.hpp"
#include "data/text/text.hpp"
#include "data/text_lines.hpp"
#include "data/transformed.hpp"
#include "data/transforms.hpp"
#include "device/cuda/nvtx.hpp"
#include "device/cuda/stream.hpp"
#include "io/dlpack.hpp"
#include "io/io.hpp"
#include "models/models.hpp"
#include "train/tensorboard.hpp"
#endif

#if !defined(TERN_KERNEL_SET) && \
    (!defined(TERN_PART) || defined(TERN_PART_CUDA))  // what computes on both kinds of device
#undef TERN_COMPILED
#include "profile/placement.hpp"
#endif
#endif
