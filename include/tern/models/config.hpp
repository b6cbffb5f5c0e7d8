// Reads a language model's sizes from the config.json beside its weights.
#pragma once
#include <variant>

#include "gpt2.hpp"
#include "llama.hpp"

namespace tern::inline TERN_BUILD::models {

/// The options of the model in a folder of Hugging Face's, from its config.json. Error if the model is neither a GPT-2 nor a
/// Llama, or differs from the one here, as by another activation function or scaled rotary positions.
TERN_API std::variant<GPT2Options, LlamaOptions> load_config(const std::string& folder);

}  // namespace tern::models

#ifndef TERN_COMPILED
#include "config.ipp"
#endif
