// The emulated NVRTC.
#include <algorithm>

#include "device.hpp"

using namespace emulator_test;

namespace {

struct Program {
  nvrtcProgram handle = nullptr;
  explicit Program(const char* source) {
    if (nvrtcCreateProgram(&handle, source, "k.cu", 0, nullptr, nullptr))
      throw std::runtime_error("nvrtcCreateProgram");
  }
  ~Program() { nvrtcDestroyProgram(&handle); }
  int compile(std::vector<const char*> options) {
    return nvrtcCompileProgram(handle, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(handle, &size);
    std::string text(size, 0);
    nvrtcGetProgramLog(handle, text.data());
    return text.c_str();
  }
};

constexpr const char* good = R"(extern "C" __global__ void f(int* x) { x[0] = __CUDA_ARCH__; })";

}  // namespace

CHILD_CASE("cuda emulator: NVRTC needs no device, and knows its architectures") {
  int major = 0, minor = 0, count = 0;
  for (const auto& [driver, expected] : {std::pair{"driver=13020", 2}, {"driver=12080", 0}}) {
    tern_emulator_set(driver);
    EXPECT(nvrtcVersion(&major, &minor) == NVRTC_SUCCESS);
    EXPECT(major == 13);  // as the library's file is called
    EXPECT(minor == expected);
  }
  EXPECT(nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS);
  std::vector<int> architectures(static_cast<std::size_t>(count));
  EXPECT(nvrtcGetSupportedArchs(architectures.data()) == NVRTC_SUCCESS);
  EXPECT(std::is_sorted(architectures.begin(), architectures.end()));
  EXPECT(std::string(nvrtcGetErrorString(6)) == "NVRTC_ERROR_COMPILATION");
}

CHILD_CASE("cuda emulator: an error in a kernel is in the log, with its line") {
  Program p("extern \"C\" __global__ void f(int* x) {\n  x[0] = y;\n}");
  EXPECT(p.compile({"-arch=sm_90"}) == NVRTC_ERROR_COMPILATION);
  EXPECT(p.log().find("k.cu:2:") != std::string::npos);
}

CHILD_CASE("cuda emulator: cubin for a real architecture, PTX for a virtual one") {
  Program real(good), ptx(good);
  std::size_t size = 0;
  EXPECT(real.compile({"--gpu-architecture=sm_90", "-std=c++17", "--use_fast_math", "-DN=1"}) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetCUBINSize(real.handle, &size) == NVRTC_SUCCESS);
  EXPECT(size > 1000);
  EXPECT(ptx.compile({"-arch", "compute_80"}) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetCUBINSize(ptx.handle, &size) == NVRTC_SUCCESS);
  EXPECT(size == 0);
  EXPECT(nvrtcGetPTXSize(ptx.handle, &size) == NVRTC_SUCCESS);
  std::string image(size, 0);
  EXPECT(nvrtcGetPTX(ptx.handle, image.data()) == NVRTC_SUCCESS);
  start();  // of capability 9.0
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  EXPECT(cuModuleLoadData(&m, image.data()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&f, m, "f") == CUDA_SUCCESS);
  Array<int> x(1);
  EXPECT(launch(f, {}, nullptr, x.pointer) == CUDA_SUCCESS);
  EXPECT(x.values()[0] == 800);
}

CHILD_CASE("cuda emulator: what NVRTC refuses") {
  Program p(good);
  EXPECT_REFUSED(NVRTC_ERROR_INVALID_OPTION, "--wrong", p.compile({"--wrong"}));
  EXPECT(p.log().find("--wrong") != std::string::npos);
  EXPECT_REFUSED(NVRTC_ERROR_INVALID_OPTION, "sm_91", p.compile({"-arch=sm_91"}));
  const char* lowered = nullptr;
  EXPECT_REFUSED(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, "not been compiled",
                 nvrtcGetLoweredName(p.handle, "f", &lowered));
  EXPECT(nvrtcAddNameExpression(p.handle, "f") == NVRTC_SUCCESS);
  EXPECT(p.compile({"-arch=sm_90"}) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetLoweredName(p.handle, "f", &lowered) == NVRTC_SUCCESS);
  EXPECT_REFUSED(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, "not added", nvrtcGetLoweredName(p.handle, "g", &lowered));
  EXPECT_REFUSED(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, "compiled", nvrtcAddNameExpression(p.handle, "g"));
  nvrtcProgram other = nullptr;
  const char* header = "";
  EXPECT_REFUSED(NVRTC_ERROR_INVALID_INPUT, "headers", nvrtcCreateProgram(&other, good, "k", 1, &header, &header));
  EXPECT_REFUSED(NVRTC_ERROR_INVALID_PROGRAM, "no such program", nvrtcDestroyProgram(&other));
  EXPECT_REFUSED(NVRTC_ERROR_INVALID_PROGRAM, "no such program", nvrtcCompileProgram(other, 0, nullptr));
}

CHILD_CASE("cuda emulator: NVRTC finds no headers") {
  Program p("#include <cuda_fp16.h>\nextern \"C\" __global__ void f(__half* x) {}");
  EXPECT_REFUSED(NVRTC_ERROR_COMPILATION, "#include", p.compile({"-arch=sm_90"}));
  EXPECT(p.log().find("cannot open source file: #include <cuda_fp16.h>") != std::string::npos);
}

CHILD_CASE("cuda emulator: parameters of more than 4096 bytes do not compile") {
  Program p("struct Big { char c[4100]; };\nextern \"C\" __global__ void f(Big b) {}");
  EXPECT(p.compile({"-arch=sm_90"}) == NVRTC_ERROR_COMPILATION);
  EXPECT(p.log().find("parameter space overflowed") != std::string::npos);
}

CHILD_CASE("cuda emulator: a compiler that is missing is an error in the log") {
  tern_emulator_set("compiler=no-such-compiler");
  Program p("extern \"C\" __global__ void only_here(int*) {}");
  EXPECT(p.compile({"-arch=sm_90"}) == NVRTC_ERROR_COMPILATION);
  EXPECT(p.log().find("no-such-compiler") != std::string::npos);
}
