#include "models/training/formats/huggingface.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// How a model type is built, as far as its configuration does not say (modeling_*.py of transformers).
struct ModelType {
  std::string_view name;
  bool gated = true;
  bool biases = false;  ///< of all linear layers
  bool qkv_biases = false;
  bool norm_biases = false;
  std::uint32_t norms = 2;
  bool head_norms = false;  ///< of queries and keys
  bool tied = false;        ///< where "tie_word_embeddings" is absent
  bool latent = false;
  bool learned_positions = false;
  std::uint32_t full_every = 0;  ///< where "layer_types" is absent
};

constexpr std::array kModelTypes = {
    ModelType{
        .name = "gpt2", .gated = false, .biases = true, .norm_biases = true, .tied = true, .learned_positions = true},
    ModelType{.name = "llama"},
    ModelType{.name = "mistral"},
    ModelType{.name = "mixtral"},
    ModelType{.name = "phi3"},
    ModelType{.name = "qwen2", .qkv_biases = true},
    ModelType{.name = "qwen3", .head_norms = true},
    ModelType{.name = "qwen3_moe", .head_norms = true},
    ModelType{.name = "gemma", .tied = true},
    ModelType{.name = "gemma2", .norms = 4, .tied = true, .full_every = 2},
    ModelType{.name = "gemma3_text", .norms = 4, .head_norms = true, .tied = true, .full_every = 6},
    ModelType{.name = "deepseek_v2", .latent = true},
    ModelType{.name = "deepseek_v3", .latent = true},
    ModelType{.name = "kimi_k2", .latent = true},
    ModelType{.name = "gpt_oss", .biases = true},
    ModelType{.name = "nemotron", .gated = false, .norm_biases = true},
};

const ModelType* find_type(std::string_view name) {
  const auto* const at =
      std::find_if(kModelTypes.begin(), kModelTypes.end(), [&](const ModelType& type) { return type.name == name; });
  return at == kModelTypes.end() ? nullptr : &*at;
}

/// The keys of one configuration, which other programs may fill with keys of their own.
class ConfigKeys {
 public:
  explicit ConfigKeys(Fields& fields) : reader_(fields) {}

  /// The number under the first of these keys that is there and not null.
  std::optional<std::uint32_t> number(std::initializer_list<std::string_view> keys) {
    std::optional<std::uint32_t> found;
    for (const std::string_view key : keys) {
      reader_.optional_value(key, "", [&](FieldValue& value) {
        if (value.json()->is_null()) { return; }
        std::uint32_t number = 0;
        value.visit(number, Range<std::uint32_t>{0, 1'000'000'000});
        if (found && *found != number) {
          value.problem("conflict", fmt::format("{} contradicts another key, which says {}", number, *found));
        }
        found = found.value_or(number);
      });
    }
    return found;
  }

  std::uint32_t required(std::initializer_list<std::string_view> keys) {
    const auto found = number(keys);
    if (found && *found > 0) { return *found; }
    if (reader_.ok()) { reader_.problem("", "missing-key", fmt::format("the model has no {}", joined(keys, " or "))); }
    return 1;
  }

  bool flag(std::string_view key, bool otherwise) {
    bool value = otherwise;
    reader_.optional_value(key, "", [&](FieldValue& text) {
      if (!text.json()->is_null()) { text.visit(value); }
    });
    return value;
  }

  std::string word(std::string_view key) {
    std::string word;
    reader_.optional_value(key, "", [&](FieldValue& text) {
      if (!text.json()->is_null()) { text.visit(word); }
    });
    return word;
  }

  std::vector<std::string> words(std::string_view key) {
    std::vector<std::string> words;
    reader_.optional_value(key, "", [&](FieldValue& list) {
      if (!list.json()->is_null()) { list.visit(words); }
    });
    return words;
  }

  std::vector<std::uint32_t> numbers(std::string_view key) {
    std::vector<std::uint32_t> numbers;
    reader_.optional_value(key, "", [&](FieldValue& list) {
      if (!list.json()->is_null() && !list.json()->empty()) { list.visit(numbers); }
    });
    return numbers;
  }

  Fields& fields() { return reader_; }

 private:
  Fields& reader_;
};

void read_grouped(ConfigKeys& keys, std::uint32_t hidden, Attention& attention) {
  attention.heads = keys.required({"num_attention_heads", "n_head"});
  attention.kv_heads = keys.number({"num_key_value_heads"}).value_or(attention.heads);
  const auto size = keys.number({"head_dim"});
  if (!size && hidden % attention.heads != 0) {
    keys.fields().problem(
        "", "missing-key",
        fmt::format("{} heads do not divide the hidden size {}, and there is no head_dim", attention.heads, hidden));
  }
  attention.head_size = std::max(1U, size.value_or(hidden / attention.heads));
  attention.value_size = attention.head_size;
}

void read_latent(ConfigKeys& keys, Attention& attention) {
  attention.kind = Attention::Kind::latent;
  attention.heads = keys.required({"num_attention_heads"});
  attention.head_size = keys.required({"qk_nope_head_dim"});
  attention.rotary_size = keys.required({"qk_rope_head_dim"});
  attention.value_size = keys.required({"v_head_dim"});
  attention.kv_rank = keys.required({"kv_lora_rank"});
  attention.query_rank = keys.number({"q_lora_rank"}).value_or(0);
}

/// Sets the window and which layers are without it.
void read_window(ConfigKeys& keys, const ModelType& type, std::uint32_t layers, Attention& attention) {
  const std::uint32_t window = keys.number({"sliding_window"}).value_or(0);
  const bool slides = keys.flag("use_sliding_window", !type.name.starts_with("qwen"));
  const std::vector<std::string> kinds = keys.words("layer_types");
  if (window == 0 || !slides) { return; }
  attention.window = window;
  attention.full_every = keys.number({"sliding_window_pattern"}).value_or(type.full_every);
  if (kinds.empty()) { return; }
  const auto first_full = std::find(kinds.begin(), kinds.end(), "full_attention");
  const auto period = static_cast<std::uint32_t>(first_full - kinds.begin()) + 1;
  attention.full_every = first_full == kinds.end() ? 0 : period;
  bool regular = kinds.size() == layers;
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    const bool full = attention.full_every > 0 && (layer + 1) % attention.full_every == 0;
    regular = regular && kinds[layer] == (full ? "full_attention" : "sliding_attention");
  }
  if (period == 1) { attention.window = attention.full_every = 0; }
  if (!regular) {
    keys.fields().problem("layer_types", "unsupported-model",
                          fmt::format("layers must repeat sliding ones with a full one at the end, {} in all", layers));
  }
}

/// Which layers have experts: those of `mlp_only_layers` and `first_k_dense_replace` have not, and of the rest every
/// `moe_layer_freq`-th (from 0) or `decoder_sparse_step`-th (to the end of each step) has.
std::vector<bool> layers_with_experts(ConfigKeys& keys, std::uint32_t layers) {
  const std::uint32_t first = keys.number({"first_k_dense_replace"}).value_or(0);
  const std::uint32_t every = std::max(1U, keys.number({"moe_layer_freq"}).value_or(1));
  const std::uint32_t step = std::max(1U, keys.number({"decoder_sparse_step"}).value_or(1));
  std::vector<bool> has(layers);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    has[layer] = layer >= first && layer % every == 0 && (layer + 1) % step == 0;
  }
  for (const std::uint32_t layer : keys.numbers("mlp_only_layers")) {
    if (layer < layers) { has[layer] = false; }
  }
  return has;
}

void read_experts(ConfigKeys& keys, Transformer& model) {
  const auto count = keys.number({"num_local_experts", "num_experts", "n_routed_experts"});
  const auto size = keys.number({"moe_intermediate_size"});
  const auto shared = keys.number({"n_shared_experts"});
  if (!count || *count == 0) { return; }
  Experts experts;
  experts.experts = *count;
  experts.chosen = keys.required({"num_experts_per_tok", "experts_per_token"});
  experts.ffn = size.value_or(model.ffn);
  experts.shared_ffn = shared.value_or(0) * experts.ffn;
  experts.layers = layers_with_experts(keys, model.layers);
  model.experts = std::move(experts);
}

Transformer read_config(ConfigKeys& keys, const ModelType& type) {
  Transformer model;
  model.layers = keys.required({"num_hidden_layers", "n_layer"});
  model.hidden = keys.required({"hidden_size", "n_embd"});
  model.vocabulary = keys.required({"vocab_size"});
  model.ffn =
      type.name == "gpt2" ? keys.number({"n_inner"}).value_or(4 * model.hidden) : keys.required({"intermediate_size"});
  model.gated = type.gated;
  const bool attention_biases = keys.flag("attention_bias", type.qkv_biases || type.biases);
  model.biases = type.biases || (keys.flag("mlp_bias", false) && attention_biases);
  model.qkv_biases = attention_biases && !model.biases;
  model.norm_biases = type.norm_biases;
  model.norms = type.norms;
  model.tied = keys.flag("tie_word_embeddings", type.tied);
  model.positions = type.learned_positions ? keys.required({"n_positions"}) : 0;
  model.next_token_layers = keys.number({"num_nextn_predict_layers"}).value_or(0);
  if (type.latent) {
    read_latent(keys, model.attention);
  } else {
    read_grouped(keys, model.hidden, model.attention);
  }
  model.attention.norms = type.head_norms;
  model.attention.sinks = type.name == "gpt_oss";
  read_window(keys, type, model.layers, model.attention);
  read_experts(keys, model);
  return model;
}

/// Reads one configuration, or the text part of one.
void read_object(Fields& fields, Transformer& model) {
  ConfigKeys keys(fields);
  const auto leave_the_rest = [&] { fields.entries("", [](const std::string& /*key*/, FieldValue& /*value*/) {}); };
  if (fields.has("text_config")) {
    fields.optional_object("text_config", "", [&](Fields& text) { read_object(text, model); });
    return leave_the_rest();
  }
  const std::string name = keys.word("model_type");
  const ModelType* const type = find_type(name);
  if (type == nullptr) {
    std::vector<std::string_view> names;
    for (const ModelType& known : kModelTypes) { names.push_back(known.name); }
    fields.problem(name.empty() ? "" : "model_type", "unsupported-model",
                   name.empty() ? "there is no \"model_type\"" : fmt::format("models of type '{}' are not read", name),
                   fmt::format("known are {}; or write the model's own fields", joined(names, ", ")));
    return leave_the_rest();
  }
  model = read_config(keys, *type);
  leave_the_rest();
  if (!fields.ok()) { return; }
  for (const std::string& fault : contradictions(model)) { fields.problem("", "bad-model", fault); }
}

}  // namespace

TrainedModel read_huggingface_config(const FileReader& files, const std::string& path) {
  const Document document = Document::load(files, path);
  Problems problems;
  Transformer model;
  std::string name;
  read_document(document, problems, [&](Fields& fields) {
    if (fields.has("_name_or_path")) { name = ConfigKeys(fields).word("_name_or_path"); }
    read_object(fields, model);
  });
  problems.throw_if_any();
  model.name = name.substr(name.find_last_of('/') + 1);
  return {.name = model.name, .transformer = model, .layers = {}};
}

}  // namespace athanor
