// Files. dlpack.hpp, which includes CUDA, is included by itself.
#pragma once
#include "file.hpp"
#include "file_kind.hpp"
#include "gzip.hpp"
#include "json.hpp"
#include "npz.hpp"
#include "safetensors.hpp"
#include "sha256.hpp"
