// A program that uses Eigen for itself, before tern does.
#include <eigen3/Eigen/Dense>
#include <tern/linalg/lstsq.hpp>

int main() {
  using namespace tern;
  const Tensor<Cpu, double> a = eye<Cpu, double>(2) * 4, x = linalg::lstsq(a, ones<Cpu, double>({2, 1})).solution;
  const Eigen::Vector2d y = (Eigen::Matrix2d::Identity() * 4).inverse() * Eigen::Vector2d::Ones();
  return x.data()[0] == y[0] && x.data()[1] == y[1] ? 0 : 1;
}
