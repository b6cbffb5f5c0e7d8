// The functions of lmdb.hpp that are not templates.
#pragma once
#include <algorithm>

#include "datum.hpp"
#include "lmdb.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// A page's header: its number in 8 bytes, 2 unused ones, flags, and where its free space begins and ends; of an
/// overflow page the number of pages. Then the offsets of its nodes.
namespace lmdb_page {
constexpr Index flags = 10, lower = 12, upper = 14, count = 12, header = 16;
constexpr unsigned branch = 1, leaf = 2, overflow = 4, meta = 8;
constexpr int deepest = 32;
}  // namespace lmdb_page

/// A node's header: the size of its data, or a branch's page, in 4 bytes; flags, which are 2 more bytes of a branch's
/// page; the key's size.
namespace lmdb_node {
constexpr Index flags = 4, key_size = 6, header = 8;
constexpr unsigned big = 1, sub_database = 2, duplicates = 4;
}  // namespace lmdb_node

/// The pages about the file, of which the one with the higher transaction counts. Behind the header: magic number,
/// version, address, size; the database of free pages and the main database, 48 bytes each; the last page; the
/// transaction.
namespace lmdb_meta {
constexpr Index magic = 16, version = 20, page_bytes = 40, main = 88, flags = main + 4, entries = main + 32,
                root = main + 40, transaction = 144, end = 152;
constexpr unsigned other_orders =
    2 | 4 | 8;  // of the main database: keys compared from their end, several values of a key, numbers as keys
}  // namespace lmdb_meta

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD LmdbFile::LmdbFile(const CallScope&, const std::string& folder)
    : MappedRecords(folder, folder + "/data.mdb") {
  Root root{}, other{};
  if (!read_meta(0, root))
    Error::fail("LMDB", {"'", folder, "/data.mdb': does not begin as an LMDB of format 1 and 64 bits does"});
  // If the newer one were damaged, the other would tell of an older state.
  if (!read_meta(root.page_bytes, other) || other.page_bytes != root.page_bytes)
    Error::fail("LMDB", {"'", folder, "/data.mdb': the second of the two pages about the file is damaged"});
  if (other.transaction > root.transaction) root = other;
  page_bytes_ = root.page_bytes;
  std::vector<bool> seen(std::size_t(size() / page_bytes_));
  if (root.page != -1) walk(root.page, 0, seen);
  if (root.is_sorted) check_order();
  Index good = 0;
  for (const Node& node : nodes_) good += !node.problem;
  if (good == Index(nodes_.size()) && good != root.entries)
    nodes_.push_back({0, "the tree has not as many records as the file says"});
}

template <class T>
T LmdbFile::number(Index offset) const {
  T x;
  std::memcpy(&x, view({}, offset, sizeof x).data(), sizeof x);
  return x;
}

TERN_COLD bool LmdbFile::read_meta(Index offset, Root& root) const {
  using namespace detail::lmdb_meta;
  if (offset > size() - end || !(number<std::uint16_t>(offset + detail::lmdb_page::flags) & detail::lmdb_page::meta))
    return false;
  root = {number<Index>(offset + detail::lmdb_meta::root), number<Index>(offset + entries),
          number<Index>(offset + transaction), number<std::uint32_t>(offset + page_bytes),
          (number<std::uint16_t>(offset + detail::lmdb_meta::flags) & other_orders) == 0};
  const bool is_power =
      root.page_bytes >= 256 && root.page_bytes <= 65536 && (root.page_bytes & (root.page_bytes - 1)) == 0;
  return number<std::uint32_t>(offset + magic) == 0xbeefc0de && number<std::uint32_t>(offset + version) == 1 &&
         is_power;
}

/// A pointer within the tree may be damaged and still name a page, or a place in one. Then keys are out of order.
TERN_COLD void LmdbFile::check_order() {
  using namespace detail::lmdb_node;
  std::string_view before;
  for (Index i = 0; i < Index(nodes_.size()); ++i) {
    Node& node = nodes_[std::size_t(i)];
    if (node.problem) continue;
    used(page_bytes_);
    const Index page_end = (node.offset / page_bytes_ + 1) * page_bytes_,
                size = number<std::uint16_t>(node.offset + key_size);
    const std::string_view key =
        view({i, node.offset}, node.offset + header, std::min(size, page_end - node.offset - header));
    if (before < key) before = key;
    else node.problem = "its key does not follow the one before it";
  }
}

/// Notes the records below a page, or why there are none.
TERN_COLD void LmdbFile::walk(Index page, int depth, std::vector<bool>& seen) {
  if (const char* const problem = walk_page(page, depth, seen))
    nodes_.push_back({page >= 0 && page < Index(seen.size()) ? page * page_bytes_ : size(), problem});
}

TERN_COLD const char* LmdbFile::walk_page(Index page, int depth, std::vector<bool>& seen) {
  using namespace detail;
  if (page < 2 || page >= Index(seen.size())) return "the tree names a page that the file does not have";
  if (seen[std::size_t(page)]) return "the tree names a page twice";
  if (depth == lmdb_page::deepest) return "the tree is deeper than it can be";
  seen[std::size_t(page)] = true;
  used(16 * page_bytes_);  // which the system maps about it
  const Index begin = page * page_bytes_;
  const unsigned flags = number<std::uint16_t>(begin + lmdb_page::flags);
  const Index lower = number<std::uint16_t>(begin + lmdb_page::lower),
              upper = number<std::uint16_t>(begin + lmdb_page::upper);
  if (number<Index>(begin) != page) return "a page has another page's number";
  if (flags != lmdb_page::branch && flags != lmdb_page::leaf) return "a page of the tree is of another kind";
  if (lower < lmdb_page::header || lower % 2 || lower > upper || upper > page_bytes_)
    return "a page's free space is not within it";
  constexpr Index least_node = lmdb_node::header + 2;  // with its offset
  if (lower - lmdb_page::header > 2 * ((page_bytes_ - lmdb_page::header) / least_node))
    return "a page has more nodes than it has room for";
  const char* problem = nullptr;  // one, however many nodes have it
  for (Index at = lmdb_page::header; at < lower; at += 2) {
    const Index offset = number<std::uint16_t>(begin + at), node = begin + offset;
    if (offset < upper || offset > page_bytes_ - lmdb_node::header) {
      problem = "a node is not within its page";
    } else if (flags == lmdb_page::leaf) {
      nodes_.push_back({node, nullptr});
    } else {
      const Index high = number<std::uint16_t>(node + lmdb_node::flags);
      walk(number<std::uint32_t>(node) | high << 32, depth + 1, seen);
    }
  }
  return problem;
}

TERN_COLD std::vector<Index> LmdbFile::index() const {
  std::vector<Index> offsets;
  for (const Node& node : nodes_) offsets.push_back(node.offset);
  return offsets;
}

TERN_NOINLINE Index LmdbFile::parse(const RecordPosition& position, Record* record) const {
  using namespace detail;
  if (position.number >= Index(nodes_.size())) return -1;
  const Node& node = nodes_[std::size_t(position.number)];
  const RecordPosition at{position.number, node.offset};
  const Index end = next_offset(position);
  if (!record) return end;
  if (node.problem) refuse(at, node.problem);
  const unsigned flags = number<std::uint16_t>(node.offset + lmdb_node::flags);
  if (flags & (lmdb_node::sub_database | lmdb_node::duplicates)) refuse(at, "it is a database within the database");
  const Index data_size = number<std::uint32_t>(node.offset),
              key_size = number<std::uint16_t>(node.offset + lmdb_node::key_size);
  const Index page_end = (node.offset / page_bytes_ + 1) * page_bytes_, key = node.offset + lmdb_node::header,
              data = key + key_size;
  const bool big = flags & lmdb_node::big;
  if ((big ? Index(sizeof(Index)) : data_size) > page_end - data) refuse(at, "it is not within its page");
  *record = {.key = view(at, key, key_size), .bytes = {}};
  if (!big) {
    record->bytes = view(at, data, data_size);
    return end;
  }
  const Index page = number<Index>(data), pages = size() / page_bytes_;
  if (page < 2 || page >= pages) refuse(at, "it names a page that the file does not have");
  const Index begin = page * page_bytes_, count = number<std::uint32_t>(begin + lmdb_page::count);
  if (number<Index>(begin) != page || number<std::uint16_t>(begin + lmdb_page::flags) != lmdb_page::overflow)
    refuse(at, "the page of its data is of another kind");
  if (count > pages - page || data_size > count * page_bytes_ - lmdb_page::header)
    refuse(at, "its data are not within their pages");
  record->bytes = view(at, begin + lmdb_page::header, data_size);
  return end;
}

/// The position's number says which record is next, its offset where that one is.
TERN_NOINLINE Index LmdbFile::next_offset(const RecordPosition& at) const {
  return at.number + 1 < Index(nodes_.size()) ? nodes_[std::size_t(at.number + 1)].offset : size();
}

TERN_NOINLINE ImageRecord LmdbFile::image(const Record& record) const {
  ImageRecord image = parse_datum(record.bytes);
  if (const std::size_t mark = record.key.find('_'); mark != std::string_view::npos)
    image.name = record.key.substr(mark + 1);
  image.class_name = detail::first_folder(image.name);
  return image;
}

}}}  // namespace tern::data
