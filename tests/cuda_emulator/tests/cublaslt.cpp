// The emulated cublasLt: products against a plain loop over mathematical indices, and what it refuses.
#include <cmath>

#include "../small_floats.hpp"
#include "device.hpp"

using namespace emulator_test;

namespace {

struct Layout {
  cublasLtMatrixLayout_t handle = nullptr;
  Layout(int type, int rows, int cols, int ld, int order = CUBLASLT_ORDER_COL, int batch = 1, std::int64_t stride = 0) {
    EXPECT(cublasLtMatrixLayoutCreate(&handle, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols),
                                      ld) == 0);
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(handle); }
  Layout(const Layout&) = delete;
  template <class T>
  void set(int attribute, T value) {
    EXPECT(cublasLtMatrixLayoutSetAttribute(handle, attribute, &value, sizeof value) == 0);
  }
};

struct Desc {
  cublasLtMatmulDesc_t handle = nullptr;
  explicit Desc(int compute = CUBLAS_COMPUTE_32F, int scale = CUDA_R_32F) {
    EXPECT(cublasLtMatmulDescCreate(&handle, compute, scale) == 0);
  }
  ~Desc() { cublasLtMatmulDescDestroy(handle); }
  Desc(const Desc&) = delete;
  template <class T>
  void set(int attribute, T value) {
    EXPECT(cublasLtMatmulDescSetAttribute(handle, attribute, &value, sizeof value) == 0);
  }
};

struct Library {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  Library() {
    EXPECT(cublasLtCreate(&handle) == 0);
    EXPECT(cublasLtMatmulPreferenceCreate(&preference) == 0);
  }
  ~Library() {
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtDestroy(handle);
  }
  Library(const Library&) = delete;
};

void* at(CUdeviceptr p) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(p)); }

// Heuristic and product in one, C = D.
int multiply(Library& lt, Desc& desc, Layout& a, Layout& b, Layout& d, CUdeviceptr pa, CUdeviceptr pb, CUdeviceptr pd,
             const void* alpha, const void* beta, CUdeviceptr workspace = 0, std::size_t workspace_bytes = 0) {
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  if (const int status = cublasLtMatmulAlgoGetHeuristic(lt.handle, desc.handle, a.handle, b.handle, d.handle, d.handle,
                                                        lt.preference, 1, &result, &found))
    return status;
  EXPECT(found == 1);
  return cublasLtMatmul(lt.handle, desc.handle, alpha, at(pa), a.handle, at(pb), b.handle, beta, at(pd), d.handle,
                        at(pd), d.handle, &result.algo, at(workspace), workspace_bytes, nullptr);
}

std::vector<float> wave(std::size_t n, float step) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(step * static_cast<float>(i + 1));
  return v;
}

constexpr float one = 1, zero = 0;

}  // namespace

CHILD_CASE("cuda emulator: products of every transpose, order, epilogue and batch") {
  start();
  Library lt;
  const int m = 5, n = 7, k = 9, batch = 2;
  const std::vector<float> a = wave(batch * m * k, 0.7f), b = wave(batch * k * n, 0.3f), c = wave(batch * m * n, 0.9f),
                           bias = wave(m, 1);
  const float alpha = 1.5f, beta = 0.5f;
  Array<float> da(a), db(b), dbias(bias);
  for (int ta = 0; ta < 2; ++ta)
    for (int tb = 0; tb < 2; ++tb)
      for (const bool row : {false, true})
        for (const unsigned epilogue :
             {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
              CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
          const bool biased = epilogue & CUBLASLT_EPILOGUE_BIAS;
          Array<float> dd(c);
          Desc desc;
          desc.set(CUBLASLT_MATMUL_DESC_TRANSA, ta);
          desc.set(CUBLASLT_MATMUL_DESC_TRANSB, tb);
          desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
          desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, at(dbias));
          const auto layout = [&](int rows, int cols) {
            return Layout(CUDA_R_32F, rows, cols, row ? cols : rows, row, batch, rows * cols);
          };
          Layout la = layout(ta ? k : m, ta ? m : k), lb = layout(tb ? n : k, tb ? k : n), ld = layout(m, n);
          const int status = multiply(lt, desc, la, lb, ld, da, db, dd, &alpha, &beta);
          if (row && biased) {
            EXPECT(status == CUBLAS_STATUS_NOT_SUPPORTED);
            EXPECT(said("row order"));
            continue;
          }
          EXPECT(status == CUBLAS_STATUS_SUCCESS);
          const std::vector<float> d = dd.values();
          const auto index = [&](int rows, int cols, int i, int j) {
            return static_cast<std::size_t>(row ? i * cols + j : j * rows + i);
          };
          for (std::size_t q = 0; q < batch; ++q)
            for (int i = 0; i < m; ++i)
              for (int j = 0; j < n; ++j) {
                double sum = 0;
                for (int l = 0; l < k; ++l)
                  sum += a[q * m * k + (ta ? index(k, m, l, i) : index(m, k, i, l))] *
                         b[q * k * n + (tb ? index(n, k, j, l) : index(k, n, l, j))];
                const std::size_t at_d = q * m * n + index(m, n, i, j);
                double x = alpha * sum + beta * c[at_d] + (biased ? bias[static_cast<std::size_t>(i)] : 0);
                if (epilogue & CUBLASLT_EPILOGUE_RELU) x = std::max(x, 0.0);
                if (epilogue & CUBLASLT_EPILOGUE_GELU)
                  x = 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
                EXPECT(std::fabs(d[at_d] - x) < 1e-5);
              }
        }
}

CHILD_CASE("cuda emulator: products of 16-bit numbers, double and integers") {
  start();
  Library lt;
  // 2 x 2, column order: A = [1 3; 2 4], B = I.
  const std::vector<std::uint16_t> bf{0x3f80, 0x4000, 0x4040, 0x4080}, eye_bf{0x3f80, 0, 0, 0x3f80};
  const std::vector<std::uint16_t> half{0x3c00, 0x4000, 0x4200, 0x4400}, eye_half{0x3c00, 0, 0, 0x3c00};
  const auto check = [&](int type, int out_type, int compute, int scale, const void* unit, const void* nil,
                         CUdeviceptr pa, CUdeviceptr pb, CUdeviceptr pd) {
    Desc desc(compute, scale);
    Layout in(type, 2, 2, 2), out(out_type, 2, 2, 2);
    EXPECT(multiply(lt, desc, in, in, out, pa, pb, pd, unit, nil) == CUBLAS_STATUS_SUCCESS);
  };
  Array<std::uint16_t> a(bf), eye(eye_bf), ha(half), heye(eye_half), d16(4);
  Array<float> d32(4);
  check(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, &one, &zero, a, eye, d16);
  EXPECT(d16.values() == bf);
  check(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, &one, &zero, a, eye, d32);
  EXPECT((d32.values() == std::vector<float>{1, 2, 3, 4}));
  check(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, &one, &zero, ha, heye, d16);
  EXPECT(d16.values() == half);
  const std::uint16_t half_one = 0x3c00, half_zero = 0;
  check(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F, &half_one, &half_zero, ha, heye, d16);
  EXPECT(d16.values() == half);
  const double d_one = 1, d_zero = 0;
  Array<double> x(std::vector<double>{1, 2, 3, 4}), e(std::vector<double>{1, 0, 0, 1}), d64(4);
  check(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, &d_one, &d_zero, x, e, d64);
  EXPECT((d64.values() == std::vector<double>{1, 2, 3, 4}));

  const int i_one = 1, i_zero = 0;
  std::vector<std::int8_t> i8(16);
  for (int i = 0; i < 16; ++i) i8[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i - 8);
  Array<std::int8_t> ia(i8);
  Array<int> di(16);
  Layout in(CUDA_R_8I, 4, 4, 4), out(CUDA_R_32I, 4, 4, 4);
  Desc desc(CUBLAS_COMPUTE_32I, CUDA_R_32I);
  EXPECT(multiply(lt, desc, in, in, out, ia, ia, di, &i_one, &i_zero) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(said("A transposed"));
  desc.set(CUBLASLT_MATMUL_DESC_TRANSA, int{CUBLAS_OP_T});
  EXPECT(multiply(lt, desc, in, in, out, ia, ia, di, &i_one, &i_zero) == CUBLAS_STATUS_SUCCESS);
  EXPECT(di.values()[0] == 64 + 49 + 36 + 25);
}

CHILD_CASE("cuda emulator: TF32 rounds what it multiplies") {
  start();
  Library lt;
  const float fine = 1 + 0x1p-12f;
  Array<float> a(std::vector<float>{fine}), d(1);
  Layout l(CUDA_R_32F, 1, 1, 1);
  Desc exact, rounded(CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT(multiply(lt, exact, l, l, l, a, a, d, &one, &zero) == CUBLAS_STATUS_SUCCESS);
  EXPECT(d.values()[0] == fine * fine);
  EXPECT(multiply(lt, rounded, l, l, l, a, a, d, &one, &zero) == CUBLAS_STATUS_SUCCESS);
  EXPECT(d.values()[0] == 1.0f);
}

CHILD_CASE("cuda emulator: scale factors in device memory") {
  start();
  Library lt;
  Array<float> a(std::vector<float>{3}), d(std::vector<float>{10}), scales(std::vector<float>{2, 0.5f});
  Layout l(CUDA_R_32F, 1, 1, 1);
  Desc desc;
  desc.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int{CUBLASLT_POINTER_MODE_DEVICE});
  EXPECT(multiply(lt, desc, l, l, l, a, a, d, at(scales), at(scales + 4)) == CUBLAS_STATUS_SUCCESS);
  EXPECT(d.values()[0] == 2 * 9 + 5);
}

CHILD_CASE("cuda emulator: with beta 0 C is not read, and the workspace is overwritten") {
  start();
  Library lt;
  const std::uint64_t most = 1 << 20;
  EXPECT(cublasLtMatmulPreferenceSetAttribute(lt.preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, 8) == 0);
  Array<float> a(std::vector<float>{3}), d(1);  // d is poison
  Array<char> workspace(1 << 20);
  Layout l(CUDA_R_32F, 1, 1, 1);
  Desc desc;
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "needs a workspace", multiply(lt, desc, l, l, l, a, a, d, &one, &zero));
  EXPECT(multiply(lt, desc, l, l, l, a, a, d, &one, &zero, workspace, 1 << 20) == CUBLAS_STATUS_SUCCESS);
  EXPECT(d.values()[0] == 9);
  EXPECT(workspace.values()[0] == static_cast<char>(0xa5));
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "not aligned",
                 multiply(lt, desc, l, l, l, a, a, d, &one, &zero, workspace + 8, 65536));
}

CHILD_CASE("cuda emulator: pointers are aligned as the algorithm was told") {
  start();
  Library lt;
  Array<float> a(std::vector<float>(8, 2.0f)), d(4);
  Layout l(CUDA_R_32F, 1, 1, 1);
  Desc desc;
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "256 bytes", multiply(lt, desc, l, l, l, a + 4, a, d, &one, &zero));
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "256 bytes", multiply(lt, desc, l, l, l, a, a, d + 4, &one, &zero));
  // Without an algorithm the default preferences hold.
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "256 bytes",
                 cublasLtMatmul(lt.handle, desc.handle, &one, at(a), l.handle, at(a + 4), l.handle, &zero, at(d),
                                l.handle, at(d), l.handle, nullptr, nullptr, 0, nullptr));
  const std::uint32_t four = 4;
  EXPECT(cublasLtMatmulPreferenceSetAttribute(lt.preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &four, 4) ==
         0);
  EXPECT(multiply(lt, desc, l, l, l, a + 4, a, d, &one, &zero) == CUBLAS_STATUS_SUCCESS);
  EXPECT(d.values()[0] == 4);
}

CHILD_CASE("cuda emulator: products that cublasLt does not compute") {
  start();
  Library lt;
  Array<float> x(64);
  const auto refused = [&](int code, const char* text, Desc& desc, Layout& a, Layout& b, Layout& d) {
    EXPECT_REFUSED(code, text, multiply(lt, desc, a, b, d, x, x, x, &one, &zero));
  };
  Desc plain, strange(CUBLAS_COMPUTE_64F), epilogue, pointers;
  Layout f22(CUDA_R_32F, 2, 2, 2), f23(CUDA_R_32F, 2, 3, 2), h22(CUDA_R_16F, 2, 2, 2), thin(CUDA_R_32F, 2, 2, 1),
      empty(CUDA_R_32F, 0, 2, 2), tiled(CUDA_R_32F, 2, 2, 2, 2), three(CUDA_R_32F, 2, 2, 2, 0, 3, 4),
      none(CUDA_R_32F, 2, 2, 2, 0, 0), many(CUDA_R_32F, 2, 2, 2, 0, 65536);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "compute type 70", strange, f22, f22, f22);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "compute type 68", plain, h22, f22, f22);
  refused(CUBLAS_STATUS_INVALID_VALUE, "op(B) 3 x 2", plain, f22, *std::make_unique<Layout>(CUDA_R_32F, 3, 2, 3), f22);
  refused(CUBLAS_STATUS_INVALID_VALUE, "D 2 x 3", plain, f22, f22, f23);
  refused(CUBLAS_STATUS_INVALID_VALUE, "leading dimension 1", plain, thin, f22, f22);
  refused(CUBLAS_STATUS_INVALID_VALUE, "0 x 2", plain, empty, f22, f22);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "column and row order", plain, tiled, f22, f22);
  refused(CUBLAS_STATUS_INVALID_VALUE, "batch counts differ", plain, three, f22, f22);
  refused(CUBLAS_STATUS_INVALID_VALUE, "no batch", plain, none, f22, f22);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "a batch of 65536", plain, many, many, many);
  epilogue.set(CUBLASLT_MATMUL_DESC_EPILOGUE, 512u);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "epilogue 512", epilogue, f22, f22, f22);
  epilogue.set(CUBLASLT_MATMUL_DESC_EPILOGUE, unsigned{CUBLASLT_EPILOGUE_BIAS});
  refused(CUBLAS_STATUS_INVALID_VALUE, "the bias is null", epilogue, f22, f22, f22);
  epilogue.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int{CUDA_R_16F});
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "bias of another type", epilogue, f22, f22, f22);
  pointers.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, 2);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "pointer mode", pointers, f22, f22, f22);
  Desc doubles(CUBLAS_COMPUTE_64F, CUDA_R_64F);
  doubles.set(CUBLASLT_MATMUL_DESC_EPILOGUE, unsigned{CUBLASLT_EPILOGUE_RELU});
  Layout d22(CUDA_R_64F, 2, 2, 2);
  refused(CUBLAS_STATUS_NOT_SUPPORTED, "16- and 32-bit", doubles, d22, d22, d22);
  Layout big(CUDA_R_32F, 100, 100, 100);
  refused(CUBLAS_STATUS_INVALID_VALUE, "not inside one device allocation", plain, big, big, big);
}

CHILD_CASE("cuda emulator: calls of cublasLt that make no sense") {
  cublasLtHandle_t early = nullptr;
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_INITIALIZED, "no current context", cublasLtCreate(&early));
  start();
  tern_emulator_set("driver=12080");
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_INITIALIZED, "of a later CUDA", cublasLtCreate(&early));
  tern_emulator_set("driver=13000");
  Library lt;
  Array<float> x(64);
  Desc desc;
  Layout l(CUDA_R_32F, 2, 2, 2);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  const auto heuristic = [&](cublasLtHandle_t handle, cublasLtMatmulPreference_t preference, cublasLtMatrixLayout_t a,
                             int requested) {
    return cublasLtMatmulAlgoGetHeuristic(handle, desc.handle, a, l.handle, l.handle, l.handle, preference, requested,
                                          &result, &found);
  };
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_INITIALIZED, "no such handle", heuristic(nullptr, lt.preference, l.handle, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "no results", heuristic(lt.handle, lt.preference, l.handle, 0));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "preference", heuristic(lt.handle, nullptr, l.handle, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "descriptor", heuristic(lt.handle, lt.preference, nullptr, 1));
  const auto product = [&](cublasLtHandle_t handle, const float* alpha, const cublasLtMatmulAlgo_t* algo) {
    return cublasLtMatmul(handle, desc.handle, alpha, at(x), l.handle, at(x), l.handle, &zero, at(x), l.handle, at(x),
                          l.handle, algo, nullptr, 0, nullptr);
  };
  const cublasLtMatmulAlgo_t made_up{};
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_INITIALIZED, "no such handle", product(nullptr, &one, nullptr));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "alpha", product(lt.handle, nullptr, nullptr));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "not an algorithm", product(lt.handle, &one, &made_up));
  const char value = 0;
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "4 bytes",
                 cublasLtMatmulDescSetAttribute(desc.handle, CUBLASLT_MATMUL_DESC_TRANSA, &value, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "attribute 99",
                 cublasLtMatmulDescSetAttribute(desc.handle, 99, &value, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "attribute 99",
                 cublasLtMatrixLayoutSetAttribute(l.handle, 99, &value, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_NOT_SUPPORTED, "attribute 99",
                 cublasLtMatmulPreferenceSetAttribute(lt.preference, 99, &value, 1));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "no such object", cublasLtDestroy(nullptr));
  EXPECT_REFUSED(CUBLAS_STATUS_INVALID_VALUE, "no such object", cublasLtMatmulDescSetAttribute(nullptr, 0, &value, 1));
  EXPECT(std::string(cublasLtGetStatusString(15)) == "CUBLAS_STATUS_NOT_SUPPORTED");
}

CHILD_CASE("cuda emulator: a product with freed memory, and one on a broken device") {
  start();
  Library lt;
  Stream s;
  Desc desc;
  Layout l(CUDA_R_32F, 1, 1, 1);
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 4, s) == CUDA_SUCCESS);
  EXPECT(multiply(lt, desc, l, l, l, p, p, p, &one, &zero) ==
         CUBLAS_STATUS_SUCCESS);  // the null stream does not wait for s
  EXPECT(cuStreamSynchronize(nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("cublasLt's") != std::string::npos);
  EXPECT(multiply(lt, desc, l, l, l, p, p, p, &one, &zero) == CUBLAS_STATUS_EXECUTION_FAILED);
}

CHILD_CASE("cuda emulator: a product takes its arithmetic or its bytes, whichever is longer") {
  tern_emulator_set("call_ns=100,kernel_ns=1000,memory_rate=100,float32=1000,tf32=8000,event_ns=0");
  start();
  Library lt;
  const int n = 64;
  Array<float> a(n * n), b(n * n), d(n * n);
  Layout l(CUDA_R_32F, n, n, n);
  Desc exact, fast(CUBLAS_COMPUTE_32F_FAST_TF32);
  const auto time = [&](Desc& desc) {
    Event begin, end;
    EXPECT(cuEventRecord(begin, nullptr) == CUDA_SUCCESS);
    EXPECT(multiply(lt, desc, l, l, l, a, b, d, &one, &zero) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cuEventRecord(end, nullptr) == CUDA_SUCCESS);
    EXPECT(cuEventSynchronize(end) == CUDA_SUCCESS);
    float ms = 0;
    EXPECT(cuEventElapsedTime(&ms, begin, end) == CUDA_SUCCESS);
    return ms;
  };
  // 2 * 64^3 = 524288 operations; 3 * 16384 = 49152 bytes, 491.52 ns.
  EXPECT(time(exact) == (100 + 1525) * 1e-6f);
  EXPECT(time(fast) == (100 + 1492) * 1e-6f);
}

TEST_CASE("cuda emulator: 16-bit conversions") {
  using namespace emulator;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    if ((bits & 0x7c00) != 0x7c00 || !(bits & 0x3ff)) REQUIRE(float_to_half(half_to_float(b)) == b);
    if ((bits & 0x7f80) != 0x7f80 || !(bits & 0x7f)) REQUIRE(float_to_bfloat16(bfloat16_to_float(b)) == b);
  }
  CHECK(float_to_half(1 + 0x1p-11f) == 0x3c00);  // a tie, to even
  CHECK(float_to_half(1 + 3 * 0x1p-11f) == 0x3c02);
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(0x1p-25f) == 0);
  CHECK(float_to_bfloat16(1 + 0x1p-8f) == 0x3f80);
  CHECK(float_to_bfloat16(1 + 3 * 0x1p-8f) == 0x3f82);
}
