// The devices that tests run on: TEMPLATE_TEST_CASE("...", "", TERN_TEST_DEVICES) { using D = TestType; ... }. Each
// device has a suite of its own, so that a test is compiled for no more than it runs on. Include it before any of the
// library's ops: the kernels of Naive must be seen first.
#pragma once
#include "naive_attention.hpp"
#include "naive_convolution.hpp"
#include "naive_gather.hpp"
#include "naive_images.hpp"
#include "naive_indexing.hpp"
#include "naive_order.hpp"
#include "naive_rows.hpp"
#include "remote.hpp"
#if defined(TERN_TESTS_ON_CUDA)
#include "tern/cuda.hpp"
#endif

// For tests that give a kernel the host's own memory.
#define TERN_TEST_HOST_DEVICES tern::Cpu, tern_test::Naive
#if defined(TERN_TESTS_ON_CUDA)
#define TERN_TEST_DEVICES tern::Cuda
#elif defined(TERN_TESTS_ON_REMOTE)
#define TERN_TEST_DEVICES tern_test::Remote
#else
#define TERN_TEST_DEVICES tern::Cpu
#endif
