// Memory is not converted.
// expect: data_ptr<U>() of a tensor whose elements are of another type: convert it, as in x.to(f64)
#include <tern/tern.hpp>
using namespace tern;
double* f(const Tensor<Cpu>& x) { return x.data_ptr<double>(); }
