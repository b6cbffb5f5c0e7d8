// expect: a device is part of a module's type, not a text: write net.cpu() or net.cuda()
#include <tern/tern.hpp>
#include <string>
using namespace tern;
auto f(const nn::Linear<Cpu>& net, const std::string& device) { return net.to(device); }
