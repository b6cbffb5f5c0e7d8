// Operator cases as they lie in a folder: cases.jsonl and tensors.safetensors, in the form of PyTorch's operator
// samples.
#pragma once
#include <tern/tensor/any_tensor.hpp>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opinfo {

using Json = nlohmann::json;

/// A recorded tensor, every element widened to double.
struct Recorded {
  tern::DType dtype;
  std::vector<tern::Index> shape;  // of any length
  std::vector<double> values;
};

struct Case {
  std::string id, op, variant;
  Json args, kwargs;
  bool error = false;
  std::vector<std::string> outputs;
  std::vector<std::optional<std::string>> cotangents;
  std::map<std::string, std::optional<std::string>> grads;
};

struct Bank {
  std::map<std::string, Recorded> tensors;
  std::vector<Case> cases;
};

/// Reads a folder of cases.
Bank read_bank(const std::string& folder);

/// Why a case cannot be asked of the library: counted, never passed silently.
struct Skip {
  std::string reason;
};

/// A tensor's elements.
Recorded record(const tern::AnyTensor& x);

/// How the inputs lie in memory.
enum class Layout { contiguous, transposed, strided };

/// What calling an operator gave: outputs, then gradients of the inputs in the order of the case's `grads`; all as
/// doubles.
struct Outcome {
  std::vector<Recorded> outputs;
  std::vector<std::optional<Recorded>> grads;
};

/// Runs a case with floating-point inputs as `type`, or with its own integer type. Throws tern::Error where the library
/// refuses, Skip where it has no such call. `round_to` first rounds the inputs to another type.
Outcome run_case(const Bank& bank, const Case& c, tern::DType type, Layout layout,
                 std::optional<tern::DType> round_to = {});

}  // namespace opinfo
