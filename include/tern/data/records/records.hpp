// Packed data: files of records. packed_images.hpp, for pictures in them, and lmdb_writer.hpp are included by
// themselves, because they need libraries.
#pragma once
#include "datum.hpp"
#include "example.hpp"
#include "lmdb.hpp"
#include "pack_images.hpp"
#include "record_set.hpp"
#include "recordio.hpp"
#include "shard_sampler.hpp"
#include "tar.hpp"
#include "tfrecord.hpp"
