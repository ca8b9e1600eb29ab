#pragma once

#include <string>

#include "models/training/architecture.hpp"

namespace athanor {

class FileReader;

/// The model of a Hugging Face config.json (transformers 4 and 5), by its "model_type": GPT-2, Llama and those built
/// like it, Gemma, Qwen 2 and 3, Mixtral, DeepSeek 2 and 3, gpt-oss, Nemotron, MPT. Of multimodal models the text part
/// ("text_config"). Throws FileError; ScenarioError, with the pointer, for keys that are missing, contradict each
/// other, or of a model type that is built in a way of its own.
TrainedModel read_huggingface_config(const FileReader& files, const std::string& path);

}  // namespace athanor
