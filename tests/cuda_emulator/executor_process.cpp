#include "executor_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "abi.hpp"
#include "folder.hpp"
#include "settings.hpp"

extern char** environ;

namespace emulator {

namespace {

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "[cuda emulator] %s: %s\n", what, std::strerror(errno));
  std::abort();
}

}  // namespace

void ExecutorProcess::start(int device_memory, int pinned_memory) {
  const int mail = memfd_create("tern-emulator-mailbox", MFD_CLOEXEC);
  if (mail < 0 || ftruncate(mail, sizeof(Mailbox))) give_up("mailbox");
  void* mapped = mmap(nullptr, sizeof(Mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, mail, 0);
  int ends[2];
  if (mapped == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) give_up("mailbox");
  mailbox_ = static_cast<Mailbox*>(mapped);
  socket_ = ends[0];

  // The child's descriptors 3 to 6. First copied out of that range, where one of them may lie.
  const int given[] = {ends[1], device_memory, pinned_memory, mail};
  int copies[4];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 4; ++i) {
    copies[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_adddup2(&actions, copies[i], 3 + i);
  }
  // Who reads what this process prints until its end would wait for the child too.
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  std::string path = library_folder() + "/tern_emulator_executor";
  char* arguments[] = {path.data(), nullptr};
  if (posix_spawn(&process_, path.c_str(), &actions, nullptr, arguments, environ)) give_up(path.c_str());
  posix_spawn_file_actions_destroy(&actions);
  for (const int copy : copies) close(copy);
  close(ends[1]);
  close(mail);
}

void ExecutorProcess::stop() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(socket_);
  munmap(mailbox_, sizeof(Mailbox));
  process_ = socket_ = -1;
  mailbox_ = nullptr;
}

int ExecutorProcess::obey(Command command) {
  mailbox_->command = command;
  mailbox_->status = abi::CUDA_SUCCESS;
  char token = 0;
  // MSG_NOSIGNAL: a dead executor is an error here, not a signal to the client.
  if (send(socket_, &token, 1, MSG_NOSIGNAL) != 1) return abi::CUDA_ERROR_LAUNCH_FAILED;
  pollfd wait{socket_, POLLIN, 0};
  int ready;
  while ((ready = poll(&wait, 1, static_cast<int>(settings().timeout_ms))) < 0 && errno == EINTR) {}
  if (ready == 0) {
    kill(process_, SIGKILL);
    std::snprintf(mailbox_->text, sizeof mailbox_->text, "a kernel did not end in %.0f ms", settings().timeout_ms);
    return abi::CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  const bool answered = read(socket_, &token, 1) == 1;
  mailbox_->protection_count = 0;
  return answered || mailbox_->status ? mailbox_->status : abi::CUDA_ERROR_LAUNCH_FAILED;
}

int ExecutorProcess::load(const std::string& path, unsigned& module) {
  std::snprintf(mailbox_->text, sizeof mailbox_->text, "%s", path.c_str());
  const int status = obey(Command::load);
  module = mailbox_->module;
  return status;
}

int ExecutorProcess::unload(unsigned module) {
  mailbox_->module = module;
  return obey(Command::unload);
}

int ExecutorProcess::protect(const Protection& protection) {
  mailbox_->protections[mailbox_->protection_count++] = protection;
  const bool full = mailbox_->protection_count == std::size(mailbox_->protections);
  return full ? obey(Command::none) : int{abi::CUDA_SUCCESS};
}

int ExecutorProcess::run(unsigned module, unsigned kernel, const Shape& shape,
                         const std::vector<unsigned char>& parameters) {
  mailbox_->module = module;
  mailbox_->kernel = kernel;
  mailbox_->reversed = settings().threads_reversed;
  mailbox_->text[0] = 0;
  mailbox_->fault_address = 0;
  mailbox_->shape = shape;
  std::copy(parameters.begin(), parameters.end(), mailbox_->parameters);
  return obey(Command::run);
}

}  // namespace emulator
