#include "device.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace emulator_test {

std::string in_child(const std::function<void()>& test_case) {
  int ends[2];
  if (pipe(ends)) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);  // not Catch2's
    const char* settings = std::getenv("TERN_EMULATOR");
    setenv("TERN_EMULATOR", (std::string(settings ? settings : "") + ",quiet=1").c_str(), 1);
    std::string what;
    try {
      test_case();
    } catch (const std::exception& e) { what = e.what(); }
    const bool told = write(ends[1], what.data(), what.size()) == static_cast<ssize_t>(what.size());
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string what;
  char part[1024];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) what.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  // A sanitizer that found something ends the child without a word here.
  return WEXITSTATUS(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) + " " + what : what;
}

void expect(bool condition, const char* text, int line) {
  if (condition) return;
  throw std::runtime_error("line " + std::to_string(line) + ": " + text +
                           "; the emulator's last message: " + tern_emulator_message());
}

CUcontext start() {
  CUcontext context = nullptr;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
    throw std::runtime_error("no device");
  return context;
}

Stream::Stream(unsigned flags) {
  if (cuStreamCreate(&handle, flags)) throw std::runtime_error("cuStreamCreate");
}
Stream::~Stream() { cuStreamDestroy_v2(handle); }

Event::Event(unsigned flags) {
  if (cuEventCreate(&handle, flags)) throw std::runtime_error("cuEventCreate");
}
Event::~Event() { cuEventDestroy_v2(handle); }

std::string compile(const std::string& source, const std::vector<std::string>& expressions, const char* arch) {
  struct Program {
    nvrtcProgram handle = nullptr;
    ~Program() { nvrtcDestroyProgram(&handle); }
  } program;
  if (const int status = nvrtcCreateProgram(&program.handle, source.c_str(), "kernel.cu", 0, nullptr, nullptr))
    throw std::runtime_error(nvrtcGetErrorString(status));
  for (const std::string& e : expressions) nvrtcAddNameExpression(program.handle, e.c_str());
  std::size_t size = 0;
  if (const int status = nvrtcCompileProgram(program.handle, 1, &arch)) {
    nvrtcGetProgramLogSize(program.handle, &size);
    std::string log(size, 0);
    nvrtcGetProgramLog(program.handle, log.data());
    throw std::runtime_error(std::string(nvrtcGetErrorString(status)) + "\n" + log.c_str());
  }
  nvrtcGetCUBINSize(program.handle, &size);
  std::string cubin(size, 0);
  nvrtcGetCUBIN(program.handle, cubin.data());
  return cubin;
}

Kernels::Kernels(const std::string& source, const std::vector<std::string>& expressions) {
  const std::string cubin = compile(source, expressions);
  if (const int status = cuModuleLoadData(&module, cubin.data()))
    throw std::runtime_error("cuModuleLoadData " + std::to_string(status));
}

CUfunction Kernels::operator[](const char* name) const {
  CUfunction function = nullptr;
  if (cuModuleGetFunction(&function, module, name)) throw std::runtime_error("no kernel " + std::string(name));
  return function;
}

bool said(const char* text) {
  const std::string message = tern_emulator_message();
  return message.find(text) != std::string::npos && message.find("https://docs.nvidia.com/") != std::string::npos;
}

}  // namespace emulator_test
