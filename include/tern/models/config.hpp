// What a language model is, as Hugging Face's config.json says it.
#pragma once
#include <variant>

#include "gpt2.hpp"
#include "llama.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct LanguageModelConfig {
  std::variant<GPT2Options, LlamaOptions> options;
  std::vector<Index> eos_token_id;  // a text ends with one of these tokens
};

/// Reads config.json of GPT-2, and of Llama, Mistral, Qwen 2 and Qwen 3, which all are LlamaForCausalLM. What it does
/// not say is as in Hugging Face's classes. Error that names the member which asks for what these two do not compute:
/// another model_type or activation, rotary positions scaled in another way than linear, llama3 or yarn, quantised
/// weights.
TERN_API LanguageModelConfig load_config(const std::string& path, CallSite here = {});

}}}  // namespace tern::models

#ifndef TERN_COMPILED
#include "config.ipp"
#endif
