// start_hello in PyTorch's C++ front end.
#include <torch/torch.h>

#include <iostream>

int main() { std::cout << torch::ones({2, 3}) + 1 << "\n"; }
