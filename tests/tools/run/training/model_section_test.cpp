#include "models/experiments/scenario/model_section.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

const Library& library() {
  static const Library shipped(ATHANOR_TEST_SCENARIOS);
  return shipped;
}

struct Read {
  ModelSection section;
  std::string mistakes;

  const Transformer& model() const { return section.model.transformer.value(); }
  bool says(const std::string& text) const { return mistakes.find(text) != std::string::npos; }
};

/// Reads `text` as the "model" of a scenario in `directory`.
Read read_section(const std::string& text, const std::string& directory = "") {
  Read read;
  Problems problems;
  const Document document = Document::parse(fmt::format(R"({{"model": {}}})", text), "s.json");
  read_document(document, problems, [&](Fields& fields) {
    fields.required_value("model", "", [&](FieldValue& value) {
      read_model(value, library(), FileReader().in(directory), problems, read.section);
    });
  });
  for (const Problem& problem : problems.list()) { read.mistakes += describe(problem) + "\n"; }
  return read;
}

std::map<std::string, ModelPreset> presets() {
  Problems problems;
  std::map<std::string, ModelPreset> models = load_models(library(), problems);
  problems.throw_if_any();
  return models;
}

}  // namespace

TEST_CASE("every preset has the parameters that its source publishes, to the last digit") {
  std::size_t with_count = 0;
  for (const auto& [name, preset] : presets()) {
    CAPTURE(name);
    CHECK_FALSE(preset.source.empty());
    if (!preset.published_billions) { continue; }
    ++with_count;
    const Ratio published = *preset.published_billions;
    const double last_digit = 1e9 / static_cast<double>(published.denominator);
    const double count = parameters(preset.model);
    CAPTURE(count);
    CHECK(std::abs(count - to_double(published) * 1e9) <= last_digit);
  }
  CHECK(with_count >= 50);
}

TEST_CASE("presets of experts have the parameters of a token that their sources publish") {
  const std::map<std::string, ModelPreset> models = presets();
  const auto active = [&](const char* name) { return active_parameters(*models.at(name).model.transformer) * 1e-9; };
  CHECK(active("Mixtral-8x7B") == doctest::Approx(12.9).epsilon(0.005));    // arXiv 2401.04088: 13B
  CHECK(active("Mixtral-8x22B") == doctest::Approx(39.1).epsilon(0.005));   // 39B
  CHECK(active("Qwen3-30B-A3B") == doctest::Approx(3.3).epsilon(0.02));     // 3.3B
  CHECK(active("Qwen3-235B-A22B") == doctest::Approx(22.1).epsilon(0.01));  // 22B
  CHECK(active("DeepSeek-V3") == doctest::Approx(37.5).epsilon(0.01));      // 37B
  CHECK(active("Kimi-K2") == doctest::Approx(32.8).epsilon(0.02));          // 32B
  // Model card, table 1: 5.13B and 3.61B, where the embedding is not counted but the output is.
  const auto without_embedding = [&](const char* name) {
    return active(name) - embedding_parameters(*models.at(name).model.transformer) * 1e-9;
  };
  CHECK(without_embedding("GPT-OSS-120B") == doctest::Approx(5.13).epsilon(0.005));
  CHECK(without_embedding("GPT-OSS-20B") == doctest::Approx(3.61).epsilon(0.005));
}

TEST_CASE("ResNet-50 has 25.56 M parameters and 4.09 G multiply-adds for an image") {
  const TrainedModel model = read_section(R"("ResNet-50")").section.model;
  CHECK(parameters(model) == 25'557'032);
  double flops = 0;
  for (const PlainLayer& layer : model.layers) { flops += layer.forward_flops; }
  CHECK(flops == doctest::Approx(2 * 4.089e9).epsilon(0.001));
  CHECK(model.layers.size() == 54);
}

TEST_CASE("fields beside a preset override it") {
  const Transformer whole = read_section(R"("Llama-3.1-405B")").model();
  const Transformer proxy = read_section(R"({"preset": "Llama-3.1-405B", "layers": 42})").model();
  CHECK(proxy.layers == 42);
  CHECK(proxy.hidden == whole.hidden);
  CHECK(proxy.attention == whole.attention);
  const Transformer deep =
      read_section(R"({"preset": "DeepSeek-V3", "layers": 5, "attention": {"heads": 64}})").model();
  CHECK(deep.experts->layers == std::vector<bool>{false, false, false, true, true});
  CHECK(deep.attention.heads == 64);
  CHECK(deep.attention.kv_rank == 512);
  const Transformer equal = read_section(R"({"preset": "Llama-2-7B", "attention": {"heads": 16}})").model();
  CHECK(equal.attention.kv_heads == 16);
  CHECK(read_section(R"({"preset": "Mixtral-8x7B", "experts": {"top_k": 1}})").model().experts->experts == 8);
  CHECK(read_section(R"({"preset": "Llama-2-7B", "name": "mine"})").section.model.name == "mine");
}

TEST_CASE("a model may be written out") {
  const Read read = read_section(R"({"layers": 4, "hidden": 512, "attention": {"heads": 8, "kv_heads": 2}, "ffn": 1024,
    "vocabulary": 1000, "experts": {"experts": 4, "top_k": 2, "ffn": 256, "first": 1, "every": 2}})");
  CHECK(read.mistakes.empty());
  CHECK(read.model().attention.head_size == 64);
  CHECK(read.model().experts->layers == std::vector<bool>{false, true, false, true});
  const Read plain = read_section(R"({"layers": [{"parameters": 10, "forward_flops": 20, "output": 5},
    {"parameters": 1, "forward_flops": 2, "output": 5, "activations": 7}]})");
  CHECK(plain.mistakes.empty());
  CHECK(plain.section.model.layers.size() == 2);
  CHECK_FALSE(plain.section.model.transformer.has_value());
}

TEST_CASE("what is wrong with a model is said at its place") {
  CHECK(read_section(R"("Llama-3.1-450B")").says("did you mean 'Llama-3.1-405B'?"));
  CHECK(read_section(R"({"preset": "Llama-3-8B", "huggingface": "config.json"})").says("leave all but one out"));
  CHECK(read_section(R"({"hidden": 512})").says("key 'layers' is missing"));
  CHECK(read_section(R"({"layers": 2, "hidden": 512, "vocabulary": 10, "ffn": 4})").says("key 'attention' is missing"));
  CHECK(read_section(R"({"layers": 2, "attention": {"heads": 3}, "hidden": 512, "vocabulary": 10, "ffn": 4})")
            .says("hidden size 512 is no multiple of 3 heads"));
  CHECK(read_section(R"({"preset": "Llama-3-8B", "attention": {"kv_heads": 5}})").says("cannot share"));
  CHECK(read_section(R"({"preset": "Llama-3-8B", "heads": 5})").says("there is no key 'heads' here"));
  CHECK(read_section(R"({"preset": "ResNet-50", "layers": 5})").says("no number of layers"));
  CHECK(read_section(R"({"huggingface": "no.json"})").says("relative to the scenario's file"));
  CHECK(read_section("5").says("a string or an object"));
}

TEST_CASE("list models shows the parameters of every preset") {
  const Ran ran = athanor_run({"list", "models", "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.json()["results"].size() == presets().size());
  CHECK(athanor_run({"list", "models"}).says("405B"));
  CHECK(athanor_run({"list", "models", "--verbose"}).says("assumed: vocabulary"));
}
