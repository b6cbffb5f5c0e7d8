// Linear algebra on the CPU, for single matrices and batches: torch.linalg. tern.hpp does not include it, so that only
// programs that use it compile it. lstsq.hpp is apart, because it brings Eigen.
#pragma once
#include "cholesky.hpp"
#include "cond.hpp"
#include "det.hpp"
#include "eigh.hpp"
#include "inv.hpp"
#include "matrix_functions.hpp"
#include "matrix_norm.hpp"
#include "multi_dot.hpp"
#include "pinv.hpp"
#include "qr.hpp"
#include "solve.hpp"
#include "solve_triangular.hpp"
#include "svd.hpp"
