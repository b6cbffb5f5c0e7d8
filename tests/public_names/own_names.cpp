// Names that a program has itself, used after `using namespace tern`.
#include <tern/tern.hpp>
#include <tern/io/io.hpp>
#include <tern/profile/placement.hpp>
#include <tern/train/train.hpp>
using namespace tern;

struct Node {
  Node* next;
};
struct Edge {
  Node *from, *to;
};
struct Shape {
  double width, height;
};
struct Number {
  double value;
};
struct Site {
  const char* address;
};
struct Array {
  double* data;
};
struct Hook {
  void (*function)();
};
struct Piece {
  int kind;
};
struct Saved {
  const char* file;
};
struct Parameters {
  double rate;
};
struct Status {
  int code;
};
struct Phase {
  double angle;
};
enum class Type { car, bus };
enum class Work { idle, busy };
namespace memory {
inline int used;
}
namespace backend {
inline int connections;
}
namespace expr {
struct Sum {
  Number a, b;
};
}
struct At {
  int position;
};
struct Dims {
  int rows, columns;
};

double now() { return 1; }
int num_threads() { return 2; }
const char* text(int) { return ""; }
const char* site(Site s) { return s.address; }
int wrap_dim(int dim) { return dim; }
bool records = false, philox = true, fail = false;
const int max_dims = 3, cpu = 0;
enum { slots, signals, boolean };

double use() {
  Node a{nullptr}, b{&a};
  const Edge edge{&a, &b};
  const Shape shape{2, 3};
  const expr::Sum sum{Number{1}, Number{2}};
  const Parameters parameters{.rate = 0.1};
  const Type type = Type::bus;
  const Work work = Work::busy;
  memory::used = boolean + slots + signals + max_dims + cpu;
  backend::connections = memory::used;
  const At at{wrap_dim(1)};
  const Dims dims{1, 2};
  const Array array{nullptr};
  const Hook hook{nullptr};
  const Saved saved_file{text(3)};
  const Status status{num_threads()};
  const Phase phase{now()};
  const bool is_used =
      records && philox && !fail && type == Type::car && work == Work::idle && edge.to && !array.data && !hook.function;
  return is_used + shape.width + sum.a.value + parameters.rate + at.position + dims.rows + status.code + phase.angle +
         *saved_file.file + *site({""}) + Piece{1}.kind + relu(ones<Cpu>({2})).sum().item();
}
