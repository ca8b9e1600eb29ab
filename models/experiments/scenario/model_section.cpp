#include "models/experiments/scenario/model_section.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/scenario/transformer_fields.hpp"
#include "models/training/formats/huggingface.hpp"
#include "models/training/formats/megatron.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

void read_preset(Fields& fields, const Sources& sources, ModelPreset& preset) {
  read_architecture(fields, true, preset.model);
  fields.required_value("source", "A source of this file", [&](FieldValue& value) {
    std::string key;
    value.visit(key);
    const auto source = sources.find(key);
    if (source != sources.end()) {
      preset.source = source->second;
    } else {
      value.problem("unknown-source", fmt::format("source \"{}\" is not in this file", key), "add it to \"sources\"");
    }
  });
  fields.optional("published_billions", preset.published_billions, "Parameters as the source gives them",
                  {{0, 1}, {1'000'000, 1}});
  fields.optional("unverified", preset.unverified, "Fields without a public source");
  fields.optional("note", preset.note, "What else there is to know");
}

}  // namespace

std::map<std::string, ModelPreset> load_models(const Library& library, Problems& problems) {
  std::map<std::string, ModelPreset> models;
  const Document document = Document::load(library.files(), library.path(LibraryFolder::presets, "models"));
  read_document(document, problems, [&](Fields& file) {
    std::string about;
    Sources sources;
    file.optional("about", about, "What the figures mean");
    file.required_object("sources", "By key", [&](Fields& fields) { read_sources(fields, sources); });
    file.required_object("presets", "By name", [&](Fields& list) {
      list.entries("One model", [&](const std::string& name, FieldValue& value) {
        ModelPreset& preset = models[name];
        value.object([&](Fields& fields) { read_preset(fields, sources, preset); });
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
  ModelReader(const Library& library, const FileReader& files, Problems& problems, ModelSection& section)
      : library_(library), files_(files), problems_(problems), section_(section) {}

  void read_name(FieldValue& value) {
    const std::map<std::string, ModelPreset> models = load_models(library_, problems_);
    std::vector<std::string> names;
    for (const auto& [name, preset] : models) { names.push_back(name); }
    std::string name = names.empty() ? "" : names.front();
    value.visit(name, OneOf{names});
    if (value.ok() && models.contains(name)) { section_.model = models.at(name).model; }
  }

  void read_object(Fields& fields) {
    fields.optional_value("preset", "A model of `athanor list models`; fields beside it override",
                          [&](FieldValue& value) { read_name(value); });
    fields.optional_value("huggingface", "The path of a config.json, relative to this file; fields beside it override",
                          [&](FieldValue& value) { read_huggingface(value); });
    fields.optional_value("megatron", "Megatron-LM's arguments, or the path of a file with them; fields override",
                          [&](FieldValue& value) { read_megatron(value); });
    check_origins(fields);
    const bool from_nothing = origins(fields) == 0;
    fields.optional("name", section_.model.name, "As results name it");
    if (fields.reading() && !fields.ok()) { return skip(fields); }
    read_architecture(fields, from_nothing, section_.model);
    if (section_.model.name.empty()) { section_.model.name = "own model"; }
    if (section_.model.transformer) { section_.model.transformer->name = section_.model.name; }
  }

 private:
  static std::size_t origins(const Fields& fields) {
    std::size_t count = 0;
    for (const char* key : {"preset", "huggingface", "megatron"}) { count += fields.has(key) ? 1 : 0; }
    return count;
  }

  static void check_origins(Fields& fields) {
    if (origins(fields) > 1) {
      fields.problem("", "conflict", "a model begins with one of \"preset\", \"huggingface\" and \"megatron\"",
                     "leave all but one out");
    }
  }

  /// What stands beside an origin that cannot be read says nothing.
  static void skip(Fields& fields) {
    fields.entries("", [](const std::string& /*key*/, FieldValue& /*value*/) {});
  }

  void read_huggingface(FieldValue& value) {
    const auto path = value.text();
    if (!path) { return; }
    try {
      section_.model = read_huggingface_config(files_, *path);
    } catch (const FileError& error) {
      value.problem("no-model", error.what(), "a path is relative to the scenario's file");
    } catch (const ScenarioError& error) {
      value.problem("no-model", fmt::format("{} cannot be read as a model", *path), "see what is said of that file");
      for (const Problem& problem : error.problems()) { problems_.add(problem); }
    }
  }

  void read_megatron(FieldValue& value) {
    const auto text = value.text();
    if (!text) { return; }
    try {
      const bool inline_text = text->find("--") != std::string::npos;
      const std::string arguments = inline_text ? *text : files_.text(*text);
      MegatronRun run = read_megatron_arguments(arguments);
      section_.model = {.name = "", .transformer = std::move(run.model), .layers = {}};
      section_.plan = run.plan;
      section_.ignored = std::move(run.ignored);
    } catch (const FileError& error) {
      value.problem("no-model", error.what(), "arguments begin with --; else a path, relative to the scenario's file");
    } catch (const UsageError& error) { value.problem("bad-arguments", error.what()); }
  }

  const Library& library_;
  const FileReader& files_;
  Problems& problems_;
  ModelSection& section_;
};

}  // namespace

void read_model(FieldValue& value, const Library& library, const FileReader& files, Problems& problems,
                ModelSection& section) {
  ModelReader model(library, files, problems, section);
  value.one_of(
      {{Type::string, [&](FieldValue& name) { model.read_name(name); }},
       {Type::object, [&](FieldValue& object) { object.object([&](Fields& fields) { model.read_object(fields); }); }}});
}

}  // namespace athanor
