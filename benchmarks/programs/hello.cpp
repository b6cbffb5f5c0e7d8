// start_hello: a program that does next to nothing with tern.
#include <tern/tern.hpp>

#include <iostream>

int main() { std::cout << tern::ones<tern::Cpu>({2, 3}) + 1 << "\n"; }
