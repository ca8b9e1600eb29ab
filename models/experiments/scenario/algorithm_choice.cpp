#include "models/experiments/scenario/algorithm_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "algorithms/formats/msccl_import.hpp"
#include "algorithms/synthesis/synthesis.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

constexpr const char* kBest = "best";
constexpr const char* kEach = "each";
using Type = FieldValue::Form::Type;

/// Names that "algorithm" may hold. `known` kind: those of that collective; else those of all, each once.
std::vector<std::string> algorithm_names(std::optional<CollectiveKind> known) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : catalog()) {
    const bool listed = std::find(names.begin(), names.end(), algorithm.name) != names.end();
    if (!listed && (!known || algorithm.kind == *known)) { names.push_back(algorithm.name); }
  }
  return names;
}

/// Reads one choice after the other.
class Chooser {
 public:
  Chooser(std::optional<CollectiveKind> kind, ImportCache& imports, Problems& problems, AlgorithmChoice& choice)
      : kind_(kind), imports_(imports), problems_(problems), choice_(choice) {}

  void name(FieldValue& text, bool best) {
    std::vector<std::string> names = algorithm_names(kind_);
    names.emplace_back(kSynthesised);
    if (best) { names.insert(names.end(), {kBest, kEach}); }
    std::string word = names.front();
    text.visit(word, OneOf{names});
    if (!text.ok()) { return; }
    choice_.each = word == kEach;
    if (word == kSynthesised) {
      choice_.synthesised = true;
      return;
    }
    if (choice_.each || word == kBest || !kind_) { return; }
    choice_.algorithms.push_back(&find(*kind_, word));
  }

  void file(FieldValue& object) {
    object.object([&](Fields& fields) {
      fields.required_value("msccl", "An MSCCL algorithm: the path of its XML, relative to this file",
                            [&](FieldValue& path) { import(path); });
    });
  }

 private:
  void import(FieldValue& path) {
    const auto text = path.text();
    if (!text) { return; }
    try {
      choice_.imports.push_back(imports_.msccl(*text));
      choice_.algorithms.push_back(choice_.imports.back().get());
    } catch (const FileError& error) {
      path.problem("no-algorithm", error.what(), "a path is relative to the scenario's file");
    } catch (const ScenarioError& error) {
      for (Problem problem : error.problems()) {
        problem.place.pointer = path.pointer();
        problems_.add(std::move(problem));
      }
    }
  }

  std::optional<CollectiveKind> kind_;
  ImportCache& imports_;
  Problems& problems_;
  AlgorithmChoice& choice_;
};

}  // namespace

std::shared_ptr<const Algorithm> ImportCache::msccl(const std::string& path) {
  std::shared_ptr<const Algorithm>& read = read_[path];
  if (!read) {
    const auto imported = std::make_shared<const ImportedAlgorithm>(import_msccl(files_.text(path), files_.path(path)));
    read = std::make_shared<const Algorithm>(as_algorithm(imported));
  }
  return read;
}

void read_algorithm_choice(Fields& fields, std::optional<CollectiveKind> kind, ImportCache& imports, Problems& problems,
                           AlgorithmChoice& choice) {
  Chooser chooser(kind, imports, problems, choice);
  const auto element = [&](FieldValue& value) {
    value.one_of({{Type::string, [&](FieldValue& text) { chooser.name(text, false); }},
                  {Type::object, [&](FieldValue& object) { chooser.file(object); }}});
  };
  fields.optional_value("algorithm",
                        "A name, \"synthesised\": one made for the fabric, an imported algorithm, a list whose fastest "
                        "is reported at each size, \"best\": all "
                        "of the catalog that fit, or \"each\": all of these, each reported",
                        [&](FieldValue& value) {
                          value.one_of({{Type::string, [&](FieldValue& text) { chooser.name(text, true); }},
                                        {Type::object, [&](FieldValue& object) { chooser.file(object); }},
                                        {Type::list, [&](FieldValue& list) { list.list(element); }}});
                        });
  if (!fields.reading()) { return; }
  choice.place = fields.place("algorithm");
  choice.named = fields.has("algorithm");
  if (kind && choice.algorithms.empty() && !choice.synthesised) { choice.algorithms = algorithms_of(*kind); }
}

std::string why_none(const std::vector<std::pair<const Algorithm*, std::string>>& reasons) {
  const auto same = [&](const auto& each) { return each.second == reasons.front().second; };
  if (reasons.size() > 1 && std::all_of(reasons.begin(), reasons.end(), same)) {
    return "\n  " + reasons.front().second;
  }
  std::string lines;
  for (const auto& [algorithm, reason] : reasons) { lines += "\n  " + algorithm->name + ": " + reason; }
  return lines;
}

std::vector<const Algorithm*> algorithms_of(CollectiveKind kind) {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind == kind) { all.push_back(&algorithm); }
  }
  return all;
}

}  // namespace athanor
