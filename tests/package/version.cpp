// Prints which oneDNN a program is compiled with, and which one it runs with.
#include <oneapi/dnnl/dnnl.h>

#include <tern/core/config.hpp>

#include <cstdio>

int main() {
  const dnnl_version_t* with = dnnl_version();
  std::printf("%s %d.%d.%d\n", tern::build_info().onednn, with->major, with->minor, with->patch);
}
