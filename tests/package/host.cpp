// A program without tern loads two plugins, local or global, and checks whether they have one state or two.
// usage: host FIRST SECOND local|global 1|2
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures = 0;
static void check(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what), ++failures;
}

struct Plugin {
  Plugin(const char* file, int visibility) : handle(dlopen(file, RTLD_NOW | visibility)) {
    if (!handle) std::puts(dlerror()), std::exit(2);
    find(seed, "seed"), find(draw, "draw"), find(use_threads, "use_threads"), find(threads, "threads");
    find(peak, "peak"), find(gradient, "gradient"), find(catches, "catches");
  }
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
  }

  void* handle;
  void (*seed)(unsigned long);
  double (*draw)();
  void (*use_threads)(int);
  int (*threads)();
  long (*peak)();
  double (*gradient)();
  bool (*catches)();
};

int main(int, char** argv) {
  const int visibility = std::strcmp(argv[3], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  const bool own = std::atoi(argv[4]) == 2;
  Plugin first(argv[1], visibility);
  const Plugin second(argv[2], visibility);

  first.seed(7);
  const double a = first.draw(), b = first.draw();
  first.seed(7), second.seed(7);
  check(first.draw() == a && second.draw() == (own ? a : b), "the sequence of random numbers");
  const int before = second.threads();
  first.use_threads(before + 1);
  check(second.threads() == (own ? before : before + 1), "the number of threads");
  const long peak = first.peak();
  check(second.gradient() == 7, "a gradient of the second plugin");
  check((first.peak() == peak) == own, "whose memory a gradient of the second plugin takes");
  check(first.gradient() == 7 && first.catches() && second.catches(), "each plugin computes and catches its own Error");

  dlclose(first.handle);
  check(second.gradient() == 7, "the second plugin goes on without the first");
  Plugin again(argv[1], visibility);
  again.seed(7);
  check(again.draw() == a && again.gradient() == 7, "the first one is loaded again");
  std::printf("%d wrong\n", failures);
  return failures;
}
