// Penn Treebank: newspaper text for language models (Marcus, Santorini, Marcinkiewicz, 1993; prepared by Mikolov et
// al., 2010).
#pragma once
#include <string>

#include "sequences.hpp"
#include "vocabulary.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The three parts as tokens, with <eos> at the end of each line. The vocabulary has the words of the training part,
/// the most frequent first.
struct TERN_API Ptb {
  Vocabulary vocabulary;
  Tokens train, valid, test;

  /// Reads ptb.train.txt, ptb.valid.txt and ptb.test.txt, plain or gzip. Error that names file and line of a word that
  /// the training part lacks, unless that has <unk>, which then stands for it.
  static Ptb load(const std::string& folder, CallSite here = {});
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "ptb.ipp"
#endif
