// What compile times are held against, since machines differ.
#include <Eigen/Dense>

int main() {}
