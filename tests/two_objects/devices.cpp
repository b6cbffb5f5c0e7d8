// Two objects of one program: one knows the CPU alone, the other, with main, all devices.
#ifdef CPU_ALONE
#include <tern/cpu.hpp>
#else
#include <tern/tern.hpp>
#endif

// The same type in both.
struct Sum {
  template <tern::Device D>
  std::string operator()(D) const {
    const auto x = tern::ones<D>({2, 3}).requires_grad_();
    matmul(x, x.t()).sum().backward();
    return tern::to_string(x.grad().sum().cpu());
  }
};

std::string on_cpu_alone(const std::string& device);

#ifdef CPU_ALONE
std::string on_cpu_alone(const std::string& device)
#else
static std::string on_all(const std::string& device)
#endif
    try {
  return tern::with_device(device, Sum());
} catch (const tern::Error& error) { return error.what(); }

#ifndef CPU_ALONE
int main() {
  const auto is_of_cpu_alone = [](const std::string& text) { return text.find("for the CPU alone") != text.npos; };
  const std::string sum = on_all("cpu");
  std::printf("%s\n%s\n%s\n", sum.c_str(), on_all("cuda").c_str(), on_cpu_alone("cuda").c_str());
  return sum != on_cpu_alone("cpu") || is_of_cpu_alone(on_all("cuda")) || !is_of_cpu_alone(on_cpu_alone("cuda"));
}
#endif
