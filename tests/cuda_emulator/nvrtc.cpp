// libnvrtc: kernels compiled for the host.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

#include "call.hpp"
#include "exports.hpp"
#include "image.hpp"
#include "kernel_compiler.hpp"
#include "kernel_source.hpp"
#include "own_version.hpp"
#include "settings.hpp"

struct abi::_nvrtcProgram {
  std::string source, name, log, cubin, ptx;
  std::vector<std::string> expressions;
  bool compiled = false;
};

using namespace emulator;
using namespace abi;

namespace {

constexpr int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

int no_such_program() {
  return refuse(NVRTC_ERROR_INVALID_PROGRAM, "no such program, or it was destroyed", page::nvrtc);
}

struct Options {
  int architecture = 75;
  bool is_virtual = true;  // compute_XX: PTX only
  std::vector<std::string> flags;
  std::string definitions;  // before the source, not on the command line: the shim must not see them
};

// "-DNAME=VALUE" as a line of source.
std::string definition(const std::string& option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos) return "#define " + option.substr(2) + " 1\n";
  return "#define " + option.substr(2, equals - 2) + " " + option.substr(equals + 1) + "\n";
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool read_architecture(const std::string& value, Options& options) {
  const std::size_t digits = value.find('_') + 1;
  options.is_virtual = starts_with(value, "compute_");
  options.architecture = std::atoi(value.c_str() + digits);
  const bool known = std::count(std::begin(architectures), std::end(architectures), options.architecture) != 0;
  return known && (options.is_virtual || starts_with(value, "sm_"));
}

// What the emulation has no use for.
bool is_ignored(const std::string& option) {
  constexpr const char* names[] = {"--use_fast_math",
                                   "-use_fast_math",
                                   "--fmad=",
                                   "-fmad=",
                                   "--ftz=",
                                   "-ftz=",
                                   "--prec-div=",
                                   "-prec-div=",
                                   "--prec-sqrt=",
                                   "-prec-sqrt=",
                                   "--device-int128",
                                   "-device-int128",
                                   "--generate-line-info",
                                   "-lineinfo",
                                   "--device-debug",
                                   "-G",
                                   "--extra-device-vectorization",
                                   "--restrict",
                                   "-restrict",
                                   "-w",
                                   "--disable-warnings",
                                   "-default-device",
                                   "-dopt",
                                   "--std="};
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return starts_with(option, name); });
}

// The option, its value after '=' or the next word.
int read_options(int count, const char* const* words, Options& options, std::string& log) {
  for (int i = 0; i < count; ++i) {
    std::string option = words[i];
    const bool takes_word = option == "-arch" || option == "--gpu-architecture" || option == "-D" || option == "-std";
    if (takes_word && i + 1 < count) option += (option == "-D" ? "" : "=") + std::string(words[++i]);
    bool good = is_ignored(option);
    if (starts_with(option, "-arch=") || starts_with(option, "--gpu-architecture="))
      good = read_architecture(option.substr(option.find('=') + 1), options);
    if (starts_with(option, "-std=")) options.flags.push_back(option), good = true;
    if (starts_with(option, "-D")) options.definitions += definition(option), good = true;
    if (!good) {
      log = "nvrtc: error: invalid value for option or unknown option: " + option;
      return refuse(NVRTC_ERROR_INVALID_OPTION, "option " + option, page::nvrtc);
    }
  }
  options.definitions += "#define __CUDA_ARCH__ " + std::to_string(options.architecture * 10) + "\n";
  return NVRTC_SUCCESS;
}

int copy_out(const std::string& text, char* out) {
  std::memcpy(out, text.c_str(), text.size());
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
#define RESULT_NAME(name, value) \
  if (result == (value)) return #name;
  ABI_NVRTC_CONSTANTS(RESULT_NAME)
#undef RESULT_NAME
  return "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  const int version = static_cast<int>(settings().driver);
  *major = own_cuda_version();
  *minor = *major == version / 1000 ? version % 1000 / 10 : 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  *count = static_cast<int>(std::size(architectures));
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* supported) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  std::copy(std::begin(architectures), std::end(architectures), supported);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const*, const char* const*) {
  EMULATED_CALL(NVRTC_ERROR_OUT_OF_MEMORY);
  if (!source || header_count)
    return refuse(NVRTC_ERROR_INVALID_INPUT, "no source, or headers, which are not emulated", page::nvrtc);
  *program = new _nvrtcProgram{source, name ? name : "default_program", "", "", "", {}};
  add_live("program", *program);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR, releases);
  if (!is_live(*program)) return no_such_program();
  remove_live(*program);
  delete *program;
  *program = nullptr;
  return call.finish(NVRTC_SUCCESS);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  EMULATED_CALL(NVRTC_ERROR_OUT_OF_MEMORY);
  if (!is_live(program)) return no_such_program();
  if (program->compiled)
    return refuse(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, "the program has been compiled", page::nvrtc);
  program->expressions.push_back(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* words) {
  EMULATED_CALL(NVRTC_ERROR_OUT_OF_MEMORY);
  if (!is_live(program)) return no_such_program();
  open_library("nvrtc");
  Options options;
  if (const int status = read_options(count, words, options, program->log)) return status;
  program->compiled = true;
  static const std::regex include_line(R"((?:^|\n)\s*(#\s*include\b[^\n]*))");
  if (std::smatch match; std::regex_search(program->source, match, include_line)) {
    program->log = program->name + ": catastrophic error: cannot open source file: " + match[1].str();
    return refuse(NVRTC_ERROR_COMPILATION, "an #include: NVRTC finds no headers but those it is given", page::nvrtc);
  }
  const std::string source = options.definitions + host_source(program->source, program->name, program->expressions);
  const std::string library = compile_kernels(source, options.flags, program->log);
  spend_compiling(source);
  if (library.empty()) return NVRTC_ERROR_COMPILATION;
  if (!options.is_virtual) program->cubin = make_image(own_cuda_version(), options.architecture, false, library);
  program->ptx = make_image(own_cuda_version(), options.architecture, true, library);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** lowered) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  if (!program->compiled)
    return refuse(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, "the program has not been compiled", page::nvrtc);
  for (const std::string& known : program->expressions)
    if (known == expression) return *lowered = known.c_str(), NVRTC_SUCCESS;
  return refuse(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, "an expression that was not added: " + std::string(expression),
                page::nvrtc);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  *size = program->cubin.size();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  return copy_out(program->cubin, cubin);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  *size = program->ptx.size();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  return copy_out(program->ptx, ptx);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  *size = program->log.size() + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  EMULATED_CALL(NVRTC_ERROR_INTERNAL_ERROR);
  if (!is_live(program)) return no_such_program();
  copy_out(program->log, log);
  log[program->log.size()] = 0;
  return NVRTC_SUCCESS;
}

}  // extern "C"
