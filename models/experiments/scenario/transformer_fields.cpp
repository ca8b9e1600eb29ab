#include "models/experiments/scenario/transformer_fields.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

constexpr std::uint32_t kMostLayers = 100'000;
constexpr std::uint32_t kMostWide = 100'000'000;

/// Reads "attention" of a transformer whose hidden size is known.
void read_attention(Fields& fields, bool from_nothing, std::uint32_t hidden, Attention& attention) {
  const bool shared = !from_nothing && attention.kv_heads != attention.heads;
  fields.optional("kind", attention.kind, "grouped: heads may share keys and values; latent: MLA, as DeepSeek-V3",
                  {{"grouped", Attention::Kind::grouped}, {"latent", Attention::Kind::latent}});
  fields.optional("heads", attention.heads, "Of queries", {1, kMostWide});
  if (from_nothing && !fields.has("heads")) {
    fields.problem("", "missing-key", "key 'heads' is missing", "how many heads of queries there are");
  }
  if (!shared) { attention.kv_heads = attention.heads; }
  fields.optional("kv_heads", attention.kv_heads, "Of keys and values; absent: as many as heads", {1, kMostWide});
  if (from_nothing && !fields.has("head_size") && hidden % attention.heads != 0) {
    fields.problem("", "missing-key", fmt::format("hidden size {} is no multiple of {} heads", hidden, attention.heads),
                   "give \"head_size\"");
  }
  if (from_nothing) { attention.head_size = std::max(1U, hidden / attention.heads); }
  const bool equal = from_nothing || attention.value_size == attention.head_size;
  fields.optional("head_size", attention.head_size,
                  "Of queries and keys; absent: hidden / heads; latent: without "
                  "the rotary part",
                  {1, kMostWide});
  if (equal) { attention.value_size = attention.head_size; }
  fields.optional("value_size", attention.value_size, "Latent: of values; absent: head_size", {1, kMostWide});
  fields.optional("rotary_size", attention.rotary_size, "Latent: of the rotary part", {0, kMostWide});
  fields.optional("query_rank", attention.query_rank, "Latent: of compressed queries; 0: not compressed",
                  {0, kMostWide});
  fields.optional("kv_rank", attention.kv_rank, "Latent: of compressed keys and values", {0, kMostWide});
  fields.optional("window", attention.window, "Tokens that one attends to; 0: all before it");
  fields.optional("full_every", attention.full_every, "The last of so many layers has no window; 0: all have it");
  fields.optional("causal", attention.causal, "Tokens attend to those before them alone");
  fields.optional("norms", attention.norms, "Norms of queries and keys, as Qwen 3");
  fields.optional("sinks", attention.sinks, "A trained score per head, as gpt-oss");
}

/// Which of the layers have experts: as the lists of a longer or shorter model go on.
void resize_layers(std::uint32_t layers, std::vector<bool>& list) {
  const std::size_t before = list.size();
  list.resize(layers, true);
  for (std::size_t layer = std::max<std::size_t>(before, 2); before > 0 && layer < layers; ++layer) {
    list[layer] = list[layer - 2];
  }
}

void read_experts(Fields& fields, bool from_nothing, std::uint32_t layers, Experts& experts) {
  const auto number = [&](std::string_view key, std::uint32_t& target, std::string_view meaning) {
    if (from_nothing) {
      fields.required(key, target, meaning, {1, kMostWide});
    } else {
      fields.optional(key, target, meaning, {1, kMostWide});
    }
  };
  number("experts", experts.experts, "How many there are");
  fields.renamed("chosen", "top_k");
  number("top_k", experts.chosen, "Of them by each token (top-k)");
  number("ffn", experts.ffn, "Intermediate size of one");
  fields.optional("shared_ffn", experts.shared_ffn, "Of what every token goes through beside them; 0: nothing",
                  {0, kMostWide});
  std::uint32_t first = 0;  // absent, neither says anything: layers are as they were
  std::uint32_t every = 1;
  fields.optional_or("first", first, 0U, "Layers before it have an MLP instead", {0, kMostLayers});
  fields.optional_or("every", every, 1U, "From there on, of so many layers the first has experts, the others an MLP",
                     {1, kMostLayers});
  if (from_nothing || fields.has("first") || fields.has("every")) {
    experts.layers.assign(layers, false);
    for (std::uint32_t layer = first; layer < layers; layer += every) { experts.layers[layer] = true; }
  }
}

void read_widths(Fields& fields, bool from_nothing, Transformer& model) {
  const auto number = [&](std::string_view key, std::uint32_t& target, std::string_view meaning) {
    fields.optional(key, target, meaning, {1, kMostWide});
    if (from_nothing && !fields.has(key)) {
      fields.problem("", "missing-key", fmt::format("key '{}' is missing", key), std::string(meaning));
    }
  };
  number("hidden", model.hidden, "Size of the vector of a token");
  number("vocabulary", model.vocabulary, "Tokens that there are, padding included");
  fields.optional("ffn", model.ffn, "Intermediate size of the MLP", {1, kMostWide});
  if (from_nothing && !fields.has("ffn") && !fields.has("experts")) {
    fields.problem("", "missing-key", "key 'ffn' is missing", "the intermediate size of the MLP");
  }
}

void read_switches(Fields& fields, Transformer& model) {
  fields.optional("gated", model.gated, "The MLP has three matrices (SwiGLU), else two");
  fields.optional("biases", model.biases, "Linear layers have them");
  fields.optional("qkv_biases", model.qkv_biases, "Those of queries, keys and values alone have them");
  fields.optional("norm_biases", model.norm_biases, "Norms have them (LayerNorm; else RMSNorm)");
  fields.optional("norms", model.norms, "In each layer", {0, 16});
  fields.optional("tied", model.tied, "Embedding and output are one matrix");
  fields.optional("positions", model.positions, "Learned ones; 0: rotary or none", {0, kMostWide});
  fields.optional("next_token_layers", model.next_token_layers, "Further layers, each of which predicts one more token",
                  {0, 16});
}

void read_transformer(Fields& fields, bool from_nothing, Transformer& model) {
  read_widths(fields, from_nothing, model);
  const auto attention = [&](Fields& inner) { read_attention(inner, from_nothing, model.hidden, model.attention); };
  fields.optional_object("attention", "How queries, keys and values are made", attention);
  if (from_nothing && !fields.has("attention")) {
    fields.problem("", "missing-key", "key 'attention' is missing", R"(such as "attention": {"heads": 32})");
  }
  const bool had_experts = model.experts.has_value();
  fields.optional_object("experts", "In place of the MLP", [&](Fields& inner) {
    if (!model.experts) { model.experts.emplace(); }
    read_experts(inner, !had_experts, model.layers, *model.experts);
  });
  if (model.experts) { resize_layers(model.layers, model.experts->layers); }
  read_switches(fields, model);
}

void read_number(Fields& fields, std::string_view key, double& target, std::string_view meaning, bool required) {
  std::int64_t number = 0;
  if (required) {
    fields.required(key, number, meaning, {0});
  } else {
    fields.optional(key, number, meaning, {0});
  }
  target = static_cast<double>(number);
}

void read_plain_layer(Fields& fields, PlainLayer& layer) {
  fields.optional("name", layer.name, "As reports name it");
  read_number(fields, "parameters", layer.parameters, "Trained numbers", true);
  read_number(fields, "forward_flops", layer.forward_flops, "Per sample; a multiply-add counts as two", true);
  read_number(fields, "backward_flops", layer.backward_flops, "Per sample; 0: twice the forward ones", false);
  read_number(fields, "activations", layer.activations, "Elements per sample that are kept for backward", false);
  read_number(fields, "output", layer.output, "Elements per sample that the next layer gets", true);
  read_number(fields, "rows", layer.rows, "Of the matrix that its parameters are (power_sgd); 0: they are none", false);
  const auto whole = static_cast<std::int64_t>(layer.parameters);
  const auto rows = static_cast<std::int64_t>(layer.rows);
  if (rows > 0 && whole % rows != 0) {
    fields.problem("rows", "does-not-divide", fmt::format("{} parameters are no matrix of {} rows", whole, rows),
                   "name one side of the matrix, or leave it out");
  }
}

/// "layers": a number, or a list of plain ones, which then are the whole model.
void read_layers(Fields& fields, std::uint32_t& count, std::vector<PlainLayer>& layers) {
  const auto number = [&](FieldValue& value) { value.visit(count, Range<std::uint32_t>{1, kMostLayers}); };
  const auto list = [&](FieldValue& value) {
    value.list(layers, [](FieldValue& each, PlainLayer& layer) { each.object(layer, read_plain_layer); }, {1});
  };
  fields.optional_value("layers", "How many; or a list of plain layers, such as convolutions, instead of a transformer",
                        [&](FieldValue& value) {
                          value.one_of({{Type::number, number}, {Type::list, list}});
                        });
}

}  // namespace

namespace {

/// Transformers read ids of tokens, whose size is known.
void read_input(Fields& fields, bool plain, double& input) {
  std::optional<Bytes> bytes;
  fields.optional("input", bytes,
                  "Of plain layers: a sample of the data set, as one process scatters it (single_process); absent: not "
                  "known",
                  {Bytes{1}});
  if (!plain && fields.has("input")) {
    fields.problem("input", "no-effect", "a transformer reads ids of tokens", "leave it out");
  }
  if (bytes) { input = static_cast<double>(bytes->count()); }
}

}  // namespace

void read_architecture(Fields& fields, bool from_nothing, TrainedModel& model) {
  Transformer transformer = model.transformer.value_or(Transformer{});
  std::vector<PlainLayer> layers;
  read_layers(fields, transformer.layers, layers);
  const bool is_list = !layers.empty() || (!from_nothing && !model.transformer);
  read_input(fields, is_list, model.input);
  if (!layers.empty()) {
    model.transformer.reset();
    model.layers = std::move(layers);
    return;
  }
  if (from_nothing && !fields.has("layers")) {
    fields.problem("", "missing-key", "key 'layers' is missing",
                   "name a \"preset\", \"huggingface\" or \"megatron\" to begin with, or tell the model's own fields");
  }
  const bool plain = !from_nothing && !model.transformer && fields.reading();
  if (plain && fields.has("layers")) {
    fields.problem("layers", "conflict", "a model of plain layers has no number of layers", "give a list of them");
  }
  if (plain) { return; }
  read_transformer(fields, from_nothing, transformer);
  if (!fields.ok()) { return; }
  for (const std::string& fault : contradictions(transformer)) { fields.problem("", "bad-model", fault); }
  model.transformer = std::move(transformer);
}

}  // namespace athanor
