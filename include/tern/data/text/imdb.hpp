// IMDb: film reviews with their sentiment (Maas et al.: "Learning word vectors for sentiment analysis", 2011).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "line_stream.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct ImdbOptions {
  bool train = true;  ///< the half to train on, or the one to test on
};

struct Review {
  std::string text;
  Index label;  // 1: positive, 0: negative
};

/// Reviews from a folder: the original one (aclImdb, with train/pos/0_9.txt …), or one with train.tsv and test.tsv,
/// plain or gzip, whose lines are a label, a tab and the text. They are read one after the other: for (const Review&
/// review : Imdb(folder)). Error that names file and line if a line is damaged.
class TERN_API Imdb {
 public:
  explicit Imdb(const std::string& folder, const ImdbOptions& options = {}, CallSite here = {});

  class TERN_API Iterator {
   public:
    explicit Iterator(const Imdb& set);
    const Review& operator*() const { return review_; }
    void operator++();
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.ended_; }

   private:
    const Imdb& set_;
    std::optional<LineStream::Reader> table_;
    std::size_t next_ = 0;
    Review review_;
    bool ended_ = false;
  };
  Iterator begin() const& { return Iterator(*this); }
  Iterator begin() const&& = delete;  // the iterator refers to the set
  std::default_sentinel_t end() const { return {}; }

 private:
  std::string table_;  // the tab-separated file; empty if reviews are files of their own
  std::vector<std::string> files_;
  std::size_t positive_ = 0;  // how many of the files, which come first, are positive
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "imdb.ipp"
#endif
