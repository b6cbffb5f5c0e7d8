// The functions of safetensors_shards.hpp that are not templates.
#pragma once
#include "json_reader.hpp"
#include "safetensors_shards.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD StateDict load_safetensors_shards(const std::string& index, CallSite here) {
  const CallScope scope(here);
  constexpr Index longest = 1 << 28;
  const std::string content = read_file(index, longest);
  JsonReader json(content.data(), Index(content.size()), "safetensors",
                  tern::detail::text({"'", index, "' is not a valid index"}));
  std::vector<std::pair<std::string, std::string>> map;  // tensors and their files
  std::string name, tensor;
  for (bool first = true; json.next_member(first, name);) {
    if (name != "weight_map") json.skip();
    else
      for (bool next = true; json.next_member(next, tensor);) map.emplace_back(tensor, json.string());
  }
  json.end();
  if (map.empty()) Error::fail("safetensors", {"'", index, "': it has no weight_map"});
  std::vector<std::pair<std::string, StateDict>> files;
  const auto open = [&](const std::string& file) -> const StateDict& {
    for (const auto& each : files)
      if (each.first == file) return each.second;
    if (file.empty() || file.find('/') != std::string::npos)
      Error::fail("safetensors", {"'", index, "': '", file, "' is no file's name"});
    files.emplace_back(file, load_safetensors(folder_of(index) + '/' + file));
    return files.back().second;
  };
  StateDict all;
  for (const auto& [wanted, file] : map) {
    const StateDict& shard = open(file);
    std::size_t i = 0;
    while (i < shard.size() && shard[i].name != wanted) ++i;
    if (i == shard.size()) Error::fail("safetensors", {"'", index, "': '", file, "' has no tensor '", wanted, "'"});
    all.push_back(shard[i]);
  }
  return all;
}

}}}  // namespace tern::io
