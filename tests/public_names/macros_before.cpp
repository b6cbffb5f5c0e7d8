// Other libraries' macros come before all headers of tern.
#include "foreign_macros.hpp"

#include <tern/tern.hpp>
#include <tern/data/csv.hpp>
#include <tern/data/records/recordio.hpp>
#include <tern/data/records/tar.hpp>
#include <tern/data/records/tfrecord.hpp>
#include <tern/data/stream.hpp>
#include <tern/data/text/text.hpp>
#include <tern/data/transforms.hpp>
#include <tern/device/cuda/graph.hpp>
#include <tern/device/cuda/nvtx.hpp>
#include <tern/device/cuda/stream.hpp>
#include <tern/distributed/distributed.hpp>
#include <tern/distributions.hpp>
#include <tern/io/dlpack.hpp>
#include <tern/io/io.hpp>
#include <tern/linalg/linalg.hpp>
#include <tern/models/models.hpp>
#include <tern/profile/placement.hpp>
#include <tern/train/train.hpp>
using namespace tern;

Tensor<Cpu> picked(const Tensor<Cpu>& x) { return x.index({Slice(1, 3), NewAxis, Ellipsis}); }
