// All of tern/distributed/ that needs no MPI. tern.hpp does not include it.
#pragma once
#include "async_collectives.hpp"
#include "collectives.hpp"
#include "data_parallel.hpp"
#include "sharded.hpp"
#include "sync_batch_norm.hpp"
#include "threads.hpp"
