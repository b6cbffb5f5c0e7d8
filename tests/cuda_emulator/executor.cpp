// The process in which kernels run. It maps device memory where the client sees it, but readable: the client cannot
// touch it, a kernel cannot touch the client, and a kernel's crash ends this process only.
//   descriptor 3: the socket to the driver; 4: device memory; 5: pinned memory; 6: the mailbox
#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "abi.hpp"
#include "block_runner.hpp"

namespace {

using namespace emulator;

Mailbox* mailbox;

void say_where(const char* what, const void* address) {
  static const unsigned nowhere[3] = {};
  const unsigned* block = running.module ? running.module->block_index : nowhere;
  const unsigned* thread = running.module ? running.module->thread_index : nowhere;
  int length = std::snprintf(
      mailbox->text, sizeof mailbox->text, "%s in kernel %s, block (%u, %u, %u), thread (%u, %u, %u)", what,
      running.kernel ? running.kernel->name : "?", block[0], block[1], block[2], thread[0], thread[1], thread[2]);
  mailbox->fault_address = reinterpret_cast<std::uintptr_t>(address);
  if (address) std::snprintf(mailbox->text + length, sizeof mailbox->text - length, ", at address %p", address);
}

void crashed(int signal, siginfo_t* info, void*) {
  switch (signal) {
    case SIGABRT: mailbox->status = abi::CUDA_ERROR_ASSERT; break;
    case SIGSEGV:
    case SIGBUS: mailbox->status = abi::CUDA_ERROR_ILLEGAL_ADDRESS; break;
    default: mailbox->status = abi::CUDA_ERROR_LAUNCH_FAILED;
  }
  const bool memory = mailbox->status == abi::CUDA_ERROR_ILLEGAL_ADDRESS;
  say_where(memory ? "an access to memory that is not the device's or not allocated" : strsignal(signal),
            memory ? info->si_addr : nullptr);
  _exit(1);
}

void catch_crashes() {
  static char stack[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP}) sigaction(signal, &action, nullptr);
}

struct Loaded {
  void* library;
  const KernelModule* module;
};
std::vector<Loaded> loaded;

int load() {
  void* library = dlopen(mailbox->text, RTLD_NOW | RTLD_LOCAL);
  auto* module = library ? static_cast<const KernelModule*>(dlsym(library, "emulated_module")) : nullptr;
  if (!module) return abi::CUDA_ERROR_INVALID_IMAGE;
  mailbox->module = static_cast<unsigned>(loaded.size());
  loaded.push_back({library, module});
  return abi::CUDA_SUCCESS;
}

int protect() {
  for (unsigned i = 0; i < mailbox->protection_count; ++i) {
    const Protection& p = mailbox->protections[i];
    const int access = p.accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (mprotect(reinterpret_cast<void*>(p.address), p.bytes, access)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
    note_protection(p);
  }
  return abi::CUDA_SUCCESS;
}

int run() {
  const KernelModule& module = *loaded[mailbox->module].module;
  const KernelEntry& kernel = module.kernels[mailbox->kernel];
  const Fault fault = run_launch(module, kernel, mailbox->shape, mailbox->parameters, mailbox->reversed);
  std::fflush(stdout);  // the kernels' printf
  if (!fault) return abi::CUDA_SUCCESS;
  say_where(fault.text, nullptr);
  return fault.status;
}

int obey() {
  if (const int status = protect()) return status;
  switch (mailbox->command) {
    case Command::load: return load();
    case Command::none: return abi::CUDA_SUCCESS;
    case Command::unload: return dlclose(loaded[mailbox->module].library) ? abi::CUDA_ERROR_UNKNOWN : abi::CUDA_SUCCESS;
    case Command::run: return run();
  }
  return abi::CUDA_ERROR_UNKNOWN;
}

void* map(std::uintptr_t address, std::size_t size, int protection, int file) {
  const int fixed = address ? MAP_FIXED_NOREPLACE : 0;
  return mmap(reinterpret_cast<void*>(address), size, protection, MAP_SHARED | MAP_NORESERVE | fixed, file, 0);
}

// The client may end while a kernel runs without end.
void end_with_client(int socket) {
  pollfd gone{socket, POLLRDHUP, 0};
  while (poll(&gone, 1, -1) < 0) {}
  _exit(0);
}

}  // namespace

int main() {
  constexpr int socket = 3, device = 4, pinned = 5, mail = 6, read_write = PROT_READ | PROT_WRITE;
  prctl(PR_SET_DUMPABLE, 0);  // a kernel's crash is reported, not dumped
  mailbox = static_cast<Mailbox*>(map(0, sizeof(Mailbox), read_write, mail));
  if (mailbox == MAP_FAILED || map(device_base, device_range, PROT_NONE, device) == MAP_FAILED ||
      map(pinned_base, pinned_range, read_write, pinned) == MAP_FAILED)
    return 1;
  catch_crashes();
  std::thread(end_with_client, socket).detach();
  char token;
  while (read(socket, &token, 1) == 1) {
    mailbox->status = abi::CUDA_SUCCESS;
    mailbox->status = obey();
    if (write(socket, &token, 1) != 1) return 1;
  }
}
