// Text: tokenisers, vocabularies, data sets and batches of tokens.
#pragma once
#include "byte_pair_encoding.hpp"
#include "characters.hpp"
#include "imdb.hpp"
#include "line_stream.hpp"
#include "ptb.hpp"
#include "sequences.hpp"
#include "vocabulary.hpp"
