#include "case.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace opinfo {
namespace {

tern::DType dtype_named(const std::string& name) {
  const std::map<std::string, tern::DType> types{{"F32", tern::DType::float32}, {"F64", tern::DType::float64},
                                                 {"I64", tern::DType::int64},   {"I32", tern::DType::int32},
                                                 {"U8", tern::DType::uint8},    {"BOOL", tern::DType::bool_}};
  return types.at(name);
}

template <class T>
void widen(const char* bytes, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    values[i] = double(value);
  }
}

void read_tensors(const std::string& path, std::map<std::string, Recorded>& tensors) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::uint64_t header_bytes;
  std::memcpy(&header_bytes, bytes.data(), 8);
  const Json header = Json::parse(bytes.substr(8, header_bytes));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    Recorded t{dtype_named(entry["dtype"]), {}, {}};
    std::size_t numel = 1;
    for (tern::Index size : entry["shape"]) {
      t.shape.push_back(size);
      numel *= std::size_t(size);
    }
    t.values.resize(numel);
    const char* const from = bytes.data() + 8 + header_bytes + std::size_t(entry["data_offsets"][0]);
    switch (t.dtype) {
      case tern::DType::float32: widen<float>(from, t.values); break;
      case tern::DType::float64: widen<double>(from, t.values); break;
      case tern::DType::int64: widen<std::int64_t>(from, t.values); break;
      case tern::DType::int32: widen<std::int32_t>(from, t.values); break;
      default: widen<std::uint8_t>(from, t.values);
    }
    tensors[name] = std::move(t);
  }
}

template <class T>
void read_strided(const tern::detail::Array& a, std::vector<double>& values) {
  tern::Index at[tern::detail::max_dims] = {};
  for (tern::Index i = 0; i < a.numel; ++i) {
    tern::Index offset = 0;
    for (int k = 0; k < a.ndim; ++k) offset += at[k] * a.strides[k];
    values.push_back(double(a.as<T>()[offset]));
    for (int k = a.ndim; k-- > 0 && ++at[k] == a.dims[k];) at[k] = 0;
  }
}

}  // namespace

Recorded record(const tern::AnyTensor& x) {
  const tern::AnyTensor on_host = x.cpu();
  const tern::detail::Array& a = *on_host.impl();
  Recorded r{a.dtype, {a.dims, a.dims + a.ndim}, {}};
  switch (a.dtype) {
    case tern::DType::float32: read_strided<float>(a, r.values); break;
    case tern::DType::float64: read_strided<double>(a, r.values); break;
    case tern::DType::bfloat16: read_strided<tern::bfloat16>(a, r.values); break;
    case tern::DType::float16: read_strided<tern::half>(a, r.values); break;
    case tern::DType::int64: read_strided<std::int64_t>(a, r.values); break;
    case tern::DType::int32: read_strided<std::int32_t>(a, r.values); break;
    case tern::DType::uint8: read_strided<std::uint8_t>(a, r.values); break;
    case tern::DType::bool_: read_strided<bool>(a, r.values);
  }
  return r;
}

Bank read_bank(const std::string& folder) {
  Bank bank;
  read_tensors(folder + "/tensors.safetensors", bank.tensors);
  std::ifstream file(folder + "/cases.jsonl");
  if (!file) throw std::runtime_error("cannot read " + folder + "/cases.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json j = Json::parse(line);
    Case c{j["id"], j["op"], j["variant"], j["args"], j["kwargs"], j.value("error", false), {}, {}, {}};
    if (!c.error) {
      c.outputs = j["outputs"].get<std::vector<std::string>>();
      for (const Json& name : j.value("cotangents", Json::array()))
        c.cotangents.push_back(name.is_null() ? std::nullopt : std::optional(name.get<std::string>()));
      const Json grads = j.value("grads", Json::object());
      for (const auto& [input, name] : grads.items())
        c.grads[input] = name.is_null() ? std::nullopt : std::optional(name.get<std::string>());
    }
    bank.cases.push_back(std::move(c));
  }
  return bank;
}

}  // namespace opinfo
