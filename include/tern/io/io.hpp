// Files.
#pragma once
#include "file.hpp"
#include "gzip.hpp"
#include "json.hpp"
#include "safetensors.hpp"
#include "sha256.hpp"
