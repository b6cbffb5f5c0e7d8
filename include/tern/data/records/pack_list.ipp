// The functions of pack_list.hpp that are not templates.
#pragma once
#include "../../io/file.hpp"
#include "../../io/json.hpp"
#include "../../io/json_reader.hpp"
#include "pack_list.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD PackList PackList::read(const std::string& path, CallSite here) {
  const CallScope scope(here);
  constexpr Index most_bytes = Index(1) << 28;
  const std::string text = io::read_file(path, most_bytes);
  io::JsonReader json(text.data(), Index(text.size()), "PackList", tern::detail::text({"'", path, "'"}));
  PackList list;
  std::string name;
  for (bool first = true; json.next_member(first, name);) {
    if (name == "kind") list.kind = json.string();
    else if (name == "format") list.format = json.string();
    else if (name == "shards") list.shards = json.integer();
    else if (name == "samples") list.samples = json.integer();
    else if (name == "shuffle") list.shuffle = json.integer();
    else if (name == "size") list.size = json.integer();
    else if (name == "classes")
      for (bool first_class = true; json.next_element(first_class);) list.classes.push_back(json.string());
    else json.skip();
  }
  json.end();
  return list;
}

TERN_COLD std::string PackList::json() const {
  io::Json json;
  json.object();
  json.member("kind", kind);
  json.member("format", format);
  json.member("shards", shards);
  json.member("samples", samples);
  json.member("shuffle", shuffle);
  json.member("size", size);
  json.array("classes");
  for (const std::string& name : classes) json.value(name);
  json.end();
  json.end();
  return json.text() + "\n";
}

}}}  // namespace tern::data
