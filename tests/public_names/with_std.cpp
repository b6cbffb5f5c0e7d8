// Programs that use all names of std and of tern.
#include <tern/tern.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>
using namespace std;
using namespace tern;

[[noreturn]] void fail(const char* program, initializer_list<string> reasons) {
  cerr << program << ": " << *reasons.begin() << '\n';
  exit(1);
}
string backend() { return "cpu"; }

int main() {
  if (backend() != "cpu") fail("program", {"unknown backend ", backend()});
  vector<int> numbers{3, 1, 2};
  sort(numbers.begin(), numbers.end(), std::greater<int>());
  map<string, Tensor<Cpu>> tensors;
  tensors["x"] = ones<Cpu>({2, 3});
  const auto& x = tensors["x"];
  const auto y = exp(x) + sqrt(abs(x)) + pow(x, 2) + max(x, 1, true).values + x.sum();
  const auto both = (x < y).logical_and(x.less(y));
  cout << y << max(numbers[0], numbers[1]) << accumulate(numbers.begin(), numbers.end(), 0) << both << '\n';
  return int(std::move(y).size(0)) - 2;
}
