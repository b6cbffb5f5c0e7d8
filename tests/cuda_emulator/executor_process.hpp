// The driver's end of the executor (executor.cpp): starts it, tells it what to do, and ends it.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "mailbox.hpp"

namespace emulator {

class ExecutorProcess {
 public:
  ExecutorProcess() = default;
  ExecutorProcess(const ExecutorProcess&) = delete;
  ExecutorProcess& operator=(const ExecutorProcess&) = delete;
  ~ExecutorProcess() { stop(); }

  void start(int device_memory, int pinned_memory);
  void stop();

  /// Each returns a CUresult; one that is not success is explained in text().
  int load(const std::string& path, unsigned& module);
  int unload(unsigned module);
  /// Done before the next kernel runs.
  int protect(const Protection& protection);
  int run(unsigned module, unsigned kernel, const Shape& shape, const std::vector<unsigned char>& parameters);

  const char* text() const { return mailbox_->text; }
  /// Where a kernel reached for memory that is not allocated; 0 if it did not.
  std::uintptr_t fault_address() const { return mailbox_->fault_address; }

 private:
  int obey(Command command);

  Mailbox* mailbox_ = nullptr;
  int socket_ = -1;
  pid_t process_ = -1;
};

}  // namespace emulator
