// Probability distributions: torch.distributions. tern.hpp does not include them, so that only programs that use them
// compile them.
#pragma once
#include "distributions/bernoulli.hpp"
#include "distributions/beta.hpp"
#include "distributions/categorical.hpp"
#include "distributions/dirichlet.hpp"
#include "distributions/exponential.hpp"
#include "distributions/gamma.hpp"
#include "distributions/geometric.hpp"
#include "distributions/independent.hpp"
#include "distributions/laplace.hpp"
#include "distributions/log_normal.hpp"
#include "distributions/multivariate_normal.hpp"
#include "distributions/normal.hpp"
#include "distributions/uniform.hpp"
