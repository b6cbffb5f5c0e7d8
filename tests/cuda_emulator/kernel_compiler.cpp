#include "kernel_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "folder.hpp"
#include "image.hpp"
#include "settings.hpp"

extern char** environ;

namespace emulator {

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Writes under another name first, so that a reader in another process never sees half a file.
void write(const fs::path& path, const std::string& text) {
  const fs::path unfinished = path.string() + "." + std::to_string(getpid());
  std::ofstream(unfinished, std::ios::binary) << text;
  fs::rename(unfinished, path);
}

// Runs the compiler, its messages into the file `log`. True if it succeeded.
bool run(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process;
  const int failed = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    std::ofstream(log) << "cannot run " << command[0] << "\n";
    return false;
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<std::string> common_command(const std::vector<std::string>& flags) {
  std::vector<std::string> command{settings().compiler,   "-std=c++17",      "-w",        "-fPIC",
                                   "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
                                   "-fno-strict-aliasing"};
  const auto add = [&command](std::initializer_list<const char*> words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  if (settings().device_arithmetic) {
    add({"-O2", "-ffp-contract=fast", "-DEMULATED_DEVICE_ARITHMETIC"});
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) add({"-mfma"});
#endif
  } else {
    add({"-O1", "-ffp-contract=off"});
  }
  // -nodefaultlibs keeps the sanitizers' libraries out: access_hooks.hpp has what the instrumentation calls.
  if (settings().checked_accesses)
    add({"-DEMULATED_CHECKED_ACCESSES", "-fsanitize=thread,alignment,bounds", "-nodefaultlibs"});
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

// The folder for results of this command and these shims, with the shims in it, precompiled where that works.
fs::path prepared_folder(const std::vector<std::string>& command) {
  constexpr const char* names[] = {"shim.hpp", "kernel_abi.hpp", "device_math.hpp", "access_hooks.hpp"};
  const fs::path shims = library_folder();
  std::string key = joined(command);
  for (const char* name : names) key += read(shims / name);
  const fs::path folder = fs::temp_directory_path() / ("tern-emulator-" + std::to_string(getuid())) /
                          std::to_string(hash_bytes(key.data(), key.size()));
  if (fs::exists(folder / "shim.hpp.gch")) return folder;
  fs::create_directories(folder);
  for (const char* name : names) write(folder / name, read(shims / name));
  const fs::path unfinished = folder / ("shim." + std::to_string(getpid()));
  std::vector<std::string> precompile = command;
  for (const char* word : {"-x", "c++-header"}) precompile.push_back(word);
  precompile.push_back((folder / "shim.hpp").string());
  precompile.push_back("-o");
  precompile.push_back(unfinished.string());
  if (run(precompile, folder / "shim.log")) fs::rename(unfinished, folder / "shim.hpp.gch");
  return folder;
}

}  // namespace

std::string compile_kernels(const std::string& source, const std::vector<std::string>& flags, std::string& log) {
  std::vector<std::string> command = common_command(flags);
  const fs::path folder = prepared_folder(command);
  const fs::path kept = folder / (std::to_string(hash_bytes(source.data(), source.size())) + ".so");
  log.clear();
  if (fs::exists(kept)) return read(kept);

  const std::string base = (folder / ("kernel." + std::to_string(getpid()))).string();
  std::ofstream(base + ".cpp") << source;
  for (const std::string& word :
       {std::string("-shared"), std::string("-include"), (folder / "shim.hpp").string(), base + ".cpp",
        std::string("-o"), base + ".so", std::string("-lm"), std::string("-lc")})
    command.push_back(word);
  const bool compiled = run(command, base + ".log");
  log = read(base + ".log");
  std::string library;
  if (compiled) {
    fs::rename(base + ".so", kept);
    library = read(kept);
  }
  fs::remove(base + ".cpp");
  fs::remove(base + ".log");
  return library;
}

}  // namespace emulator
