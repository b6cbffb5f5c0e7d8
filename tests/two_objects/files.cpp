// A program that only reads and writes files: the tape is not part of it.
#include <tern/io/io.hpp>

int main() {
  using namespace tern;
  const Tensor<Cpu> x(detail::new_impl(DType::float32, detail::Shape{2, 3}));
  const io::AtomicFile file("files.npy");
  return x.numel() == 6 ? 0 : 1;
}
