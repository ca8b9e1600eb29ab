#include "models/experiments/scenario/transformer_fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace athanor {

namespace {

using Type = ValueReader::Form::Type;

constexpr std::uint32_t kMostLayers = 100'000;
constexpr std::uint32_t kMostWide = 100'000'000;

/// Reads "attention" of a transformer whose hidden size is known.
void read_attention(ObjectReader& reader, bool from_nothing, std::uint32_t hidden, Attention& attention) {
  const bool shared = !from_nothing && attention.kv_heads != attention.heads;
  reader.optional("kind", attention.kind, "grouped: heads may share keys and values; latent: MLA, as DeepSeek-V3",
                  {{"grouped", Attention::Kind::grouped}, {"latent", Attention::Kind::latent}});
  reader.optional("heads", attention.heads, "Of queries", {1, kMostWide});
  if (from_nothing && !reader.has("heads")) {
    reader.problem("", "missing-key", "key 'heads' is missing", "how many heads of queries there are");
  }
  if (!shared) { attention.kv_heads = attention.heads; }
  reader.optional("kv_heads", attention.kv_heads, "Of keys and values; absent: as many as heads", {1, kMostWide});
  if (from_nothing && !reader.has("head_size") && hidden % attention.heads != 0) {
    reader.problem("", "missing-key", fmt::format("hidden size {} is no multiple of {} heads", hidden, attention.heads),
                   "give \"head_size\"");
  }
  if (from_nothing) { attention.head_size = std::max(1U, hidden / attention.heads); }
  const bool equal = from_nothing || attention.value_size == attention.head_size;
  reader.optional("head_size", attention.head_size,
                  "Of queries and keys; absent: hidden / heads; latent: without "
                  "the rotary part",
                  {1, kMostWide});
  if (equal) { attention.value_size = attention.head_size; }
  reader.optional("value_size", attention.value_size, "Latent: of values; absent: head_size", {1, kMostWide});
  reader.optional("rotary_size", attention.rotary_size, "Latent: of the rotary part", {0, kMostWide});
  reader.optional("query_rank", attention.query_rank, "Latent: of compressed queries; 0: not compressed",
                  {0, kMostWide});
  reader.optional("kv_rank", attention.kv_rank, "Latent: of compressed keys and values", {0, kMostWide});
  reader.optional("window", attention.window, "Tokens that one attends to; 0: all before it");
  reader.optional("full_every", attention.full_every, "The last of so many layers has no window; 0: all have it");
  reader.optional("causal", attention.causal, "Tokens attend to those before them alone");
  reader.optional("norms", attention.norms, "Norms of queries and keys, as Qwen 3");
  reader.optional("sinks", attention.sinks, "A trained score per head, as gpt-oss");
}

/// Which of the layers have experts: as the lists of a longer or shorter model go on.
void resize_layers(std::uint32_t layers, std::vector<bool>& list) {
  const std::size_t before = list.size();
  list.resize(layers, true);
  for (std::size_t layer = std::max<std::size_t>(before, 2); before > 0 && layer < layers; ++layer) {
    list[layer] = list[layer - 2];
  }
}

void read_experts(ObjectReader& reader, bool from_nothing, std::uint32_t layers, Experts& experts) {
  const auto number = [&](std::string_view key, std::uint32_t& target, std::string_view meaning) {
    if (from_nothing) {
      reader.required(key, target, meaning, {1, kMostWide});
    } else {
      reader.optional(key, target, meaning, {1, kMostWide});
    }
  };
  number("experts", experts.experts, "How many there are");
  number("chosen", experts.chosen, "Of them by each token (top-k)");
  number("ffn", experts.ffn, "Intermediate size of one");
  reader.optional("shared_ffn", experts.shared_ffn, "Of what every token goes through beside them; 0: nothing",
                  {0, kMostWide});
  std::uint32_t first = 0;
  std::uint32_t every = 1;
  reader.optional("first", first, "Layers before it have an MLP instead", {0, kMostLayers});
  reader.optional("every", every, "From there on, of so many layers the first has experts, the others an MLP",
                  {1, kMostLayers});
  if (from_nothing || reader.has("first") || reader.has("every")) {
    experts.layers.assign(layers, false);
    for (std::uint32_t layer = first; layer < layers; layer += every) { experts.layers[layer] = true; }
  }
}

void read_widths(ObjectReader& reader, bool from_nothing, Transformer& model) {
  const auto number = [&](std::string_view key, std::uint32_t& target, std::string_view meaning) {
    reader.optional(key, target, meaning, {1, kMostWide});
    if (from_nothing && !reader.has(key)) {
      reader.problem("", "missing-key", fmt::format("key '{}' is missing", key), std::string(meaning));
    }
  };
  number("hidden", model.hidden, "Size of the vector of a token");
  number("vocabulary", model.vocabulary, "Tokens that there are, padding included");
  reader.optional("ffn", model.ffn, "Intermediate size of the MLP", {1, kMostWide});
  if (from_nothing && !reader.has("ffn") && !reader.has("experts")) {
    reader.problem("", "missing-key", "key 'ffn' is missing", "the intermediate size of the MLP");
  }
}

void read_switches(ObjectReader& reader, Transformer& model) {
  reader.optional("gated", model.gated, "The MLP has three matrices (SwiGLU), else two");
  reader.optional("biases", model.biases, "Linear layers have them");
  reader.optional("qkv_biases", model.qkv_biases, "Those of queries, keys and values alone have them");
  reader.optional("norm_biases", model.norm_biases, "Norms have them (LayerNorm; else RMSNorm)");
  reader.optional("norms", model.norms, "In each layer", {0, 16});
  reader.optional("tied", model.tied, "Embedding and output are one matrix");
  reader.optional("positions", model.positions, "Learned ones; 0: rotary or none", {0, kMostWide});
  reader.optional("next_token_layers", model.next_token_layers, "Further layers, each of which predicts one more token",
                  {0, 16});
}

void read_transformer(ObjectReader& reader, bool from_nothing, Transformer& model) {
  read_widths(reader, from_nothing, model);
  const auto attention = [&](ObjectReader& inner) {
    read_attention(inner, from_nothing, model.hidden, model.attention);
  };
  reader.optional_object("attention", "How queries, keys and values are made", attention);
  if (from_nothing && !reader.has("attention")) {
    reader.problem("", "missing-key", "key 'attention' is missing", R"(such as "attention": {"heads": 32})");
  }
  const bool had_experts = model.experts.has_value();
  reader.optional_object("experts", "In place of the MLP", [&](ObjectReader& inner) {
    if (!model.experts) { model.experts.emplace(); }
    read_experts(inner, !had_experts, model.layers, *model.experts);
  });
  if (model.experts) { resize_layers(model.layers, model.experts->layers); }
  read_switches(reader, model);
}

void read_number(ObjectReader& reader, std::string_view key, double& target, std::string_view meaning, bool required) {
  std::int64_t number = 0;
  if (required) {
    reader.required(key, number, meaning, {0});
  } else {
    reader.optional(key, number, meaning, {0});
  }
  target = static_cast<double>(number);
}

void read_plain_layer(ObjectReader& reader, PlainLayer& layer) {
  reader.optional("name", layer.name, "As reports name it");
  read_number(reader, "parameters", layer.parameters, "Trained numbers", true);
  read_number(reader, "forward_flops", layer.forward_flops, "Per sample; a multiply-add counts as two", true);
  read_number(reader, "backward_flops", layer.backward_flops, "Per sample; 0: twice the forward ones", false);
  read_number(reader, "activations", layer.activations, "Elements per sample that are kept for backward", false);
  read_number(reader, "output", layer.output, "Elements per sample that the next layer gets", true);
}

/// "layers": a number, or a list of plain ones, which then are the whole model.
void read_layers(ObjectReader& reader, std::uint32_t& count, std::vector<PlainLayer>& layers) {
  const auto number = [&](ValueReader& value) { value.read(count, Range<std::uint32_t>{1, kMostLayers}); };
  const auto list = [&](ValueReader& value) {
    value.list([&](ValueReader& element) {
      PlainLayer layer;
      element.object([&](ObjectReader& inner) { read_plain_layer(inner, layer); });
      if (!element.describing()) { layers.push_back(std::move(layer)); }
    });
  };
  reader.optional_value("layers", "How many; or a list of plain layers, such as convolutions, instead of a transformer",
                        [&](ValueReader& value) {
                          value.one_of({{Type::number, number}, {Type::list, list}});
                        });
}

}  // namespace

void read_architecture(ObjectReader& reader, bool from_nothing, TrainedModel& model) {
  Transformer transformer = model.transformer.value_or(Transformer{});
  std::vector<PlainLayer> layers;
  read_layers(reader, transformer.layers, layers);
  if (!layers.empty()) {
    model.transformer.reset();
    model.layers = std::move(layers);
    return;
  }
  if (from_nothing && !reader.has("layers")) {
    reader.problem("", "missing-key", "key 'layers' is missing",
                   "name a \"preset\", \"huggingface\" or \"megatron\" to begin with, or tell the model's own fields");
  }
  const bool plain = !from_nothing && !model.transformer && !reader.describing();
  if (plain && reader.has("layers")) {
    reader.problem("layers", "conflict", "a model of plain layers has no number of layers", "give a list of them");
  }
  if (plain) { return; }
  read_transformer(reader, from_nothing, transformer);
  if (reader.describing() || !reader.ok()) { return; }
  for (const std::string& fault : contradictions(transformer)) { reader.problem("", "bad-model", fault); }
  model.transformer = std::move(transformer);
}

}  // namespace athanor
