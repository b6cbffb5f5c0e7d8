// Files.
#pragma once
#include "file.hpp"
#include "gzip.hpp"
#include "json.hpp"
#include "npz.hpp"
#include "safetensors.hpp"
#include "sha256.hpp"
