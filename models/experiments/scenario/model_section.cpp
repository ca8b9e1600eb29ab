#include "models/experiments/scenario/model_section.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/scenario/transformer_fields.hpp"
#include "models/training/formats/huggingface.hpp"
#include "models/training/formats/megatron.hpp"
#include "sim/config/object_reader.hpp"
#include "sim/file.hpp"
#include "topologies/scenario/sources.hpp"

namespace athanor {

namespace {

using Type = ValueReader::Form::Type;

void read_preset(ObjectReader& reader, const Sources& sources, ModelPreset& preset) {
  read_architecture(reader, true, preset.model);
  reader.required_value("source", "A source of this file", [&](ValueReader& value) {
    std::string key;
    value.read(key);
    const auto source = sources.find(key);
    if (source != sources.end()) {
      preset.source = source->second;
    } else {
      value.problem("unknown-source", fmt::format("source \"{}\" is not in this file", key), "add it to \"sources\"");
    }
  });
  reader.optional("published_billions", preset.published_billions, "Parameters as the source gives them",
                  {{0, 1}, {1'000'000, 1}});
  reader.optional("unverified", preset.unverified, "Fields without a public source");
  reader.optional("note", preset.note, "What else there is to know");
}

}  // namespace

std::map<std::string, ModelPreset> load_models(const Library& library, Problems& problems) {
  std::map<std::string, ModelPreset> models;
  const Document document = Document::load(library.path(Shelf::presets, "models"));
  read_document(document, problems, [&](ObjectReader& file) {
    std::string about;
    Sources sources;
    file.optional("about", about, "What the figures mean");
    file.required_object("sources", "By key", [&](ObjectReader& reader) { read_sources(reader, sources); });
    file.required_object("presets", "By name", [&](ObjectReader& list) {
      list.entries("One model", [&](const std::string& name, ValueReader& value) {
        ModelPreset& preset = models[name];
        value.object([&](ObjectReader& reader) { read_preset(reader, sources, preset); });
        preset.model.name = name;
        if (preset.model.transformer) { preset.model.transformer->name = name; }
      });
    });
  });
  return models;
}

namespace {

/// One "model", being read.
class ModelReader {
 public:
  ModelReader(const Library& library, const std::string& directory, Problems& problems, ModelSection& section)
      : library_(library), directory_(directory), problems_(problems), section_(section) {}

  void read_name(ValueReader& value) {
    const std::map<std::string, ModelPreset> models = load_models(library_, problems_);
    std::vector<std::string> names;
    for (const auto& [name, preset] : models) { names.push_back(name); }
    std::string name = names.empty() ? "" : names.front();
    value.read(name, OneOf{names});
    if (!value.describing() && value.ok() && models.contains(name)) { section_.model = models.at(name).model; }
  }

  void read_object(ObjectReader& reader) {
    reader.optional_value("preset", "A model of `athanor list models`; fields beside it override",
                          [&](ValueReader& value) { read_name(value); });
    reader.optional_value("huggingface", "The path of a config.json, relative to this file; fields beside it override",
                          [&](ValueReader& value) { read_huggingface(value); });
    reader.optional_value("megatron", "Megatron-LM's arguments, or the path of a file with them; fields override",
                          [&](ValueReader& value) { read_megatron(value); });
    check_origins(reader);
    const bool from_nothing = origins(reader) == 0;
    reader.optional("name", section_.model.name, "As results name it");
    if (!reader.describing() && !reader.ok()) { return skip(reader); }
    read_architecture(reader, from_nothing, section_.model);
    if (section_.model.name.empty()) { section_.model.name = "own model"; }
    if (section_.model.transformer) { section_.model.transformer->name = section_.model.name; }
  }

 private:
  static std::size_t origins(const ObjectReader& reader) {
    std::size_t count = 0;
    for (const char* key : {"preset", "huggingface", "megatron"}) { count += reader.has(key) ? 1 : 0; }
    return count;
  }

  static void check_origins(ObjectReader& reader) {
    if (origins(reader) > 1) {
      reader.problem("", "conflict", "a model begins with one of \"preset\", \"huggingface\" and \"megatron\"",
                     "leave all but one out");
    }
  }

  /// What stands beside an origin that cannot be read says nothing.
  static void skip(ObjectReader& reader) {
    reader.entries("", [](const std::string& /*key*/, ValueReader& /*value*/) {});
  }

  std::string beside(const std::string& path) const { return (std::filesystem::path(directory_) / path).string(); }

  void read_huggingface(ValueReader& value) {
    const auto path = value.text();
    if (!path) { return; }
    try {
      section_.model = read_huggingface_config(beside(*path));
    } catch (const FileError& error) {
      value.problem("no-model", error.what(), "a path is relative to the scenario's file");
    } catch (const ScenarioError& error) {
      value.problem("no-model", fmt::format("{} cannot be read as a model", *path), "see what is said of that file");
      for (const Problem& problem : error.problems()) { problems_.add(problem); }
    }
  }

  void read_megatron(ValueReader& value) {
    const auto text = value.text();
    if (!text) { return; }
    try {
      const bool inline_text = text->find("--") != std::string::npos;
      const std::string arguments = inline_text ? *text : read_text_file(beside(*text));
      MegatronRun run = read_megatron_arguments(arguments);
      section_.model = {.name = "", .transformer = std::move(run.model), .layers = {}};
      section_.plan = run.plan;
      section_.ignored = std::move(run.ignored);
    } catch (const FileError& error) {
      value.problem("no-model", error.what(), "arguments begin with --; else a path, relative to the scenario's file");
    } catch (const UsageError& error) { value.problem("bad-arguments", error.what()); }
  }

  const Library& library_;
  const std::string& directory_;
  Problems& problems_;
  ModelSection& section_;
};

}  // namespace

void read_model(ValueReader& value, const Library& library, const std::string& directory, Problems& problems,
                ModelSection& section) {
  ModelReader model(library, directory, problems, section);
  value.one_of({{Type::string, [&](ValueReader& name) { model.read_name(name); }},
                {Type::object, [&](ValueReader& object) {
                   object.object([&](ObjectReader& reader) { model.read_object(reader); });
                 }}});
}

}  // namespace athanor
