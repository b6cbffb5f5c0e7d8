// Linear algebra on the CPU, for single matrices and batches: torch.linalg. A program includes it besides tern.hpp,
// because what computes it is Eigen's, which is slow to compile.
#pragma once
#include "cholesky.hpp"
#include "det.hpp"
#include "eigh.hpp"
#include "inv.hpp"
#include "qr.hpp"
#include "solve.hpp"
#include "solve_triangular.hpp"
#include "svd.hpp"
