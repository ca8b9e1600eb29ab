#include "models/experiments/scenario/framework_section.hpp"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "models/experiments/scenario/idle_settings.hpp"
#include "models/experiments/scenario/plan_names.hpp"
#include "sim/config/fields.hpp"
#include "sim/format.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

namespace {

constexpr const char* kFile = "frameworks";
constexpr std::uint64_t kMostParameters = 1'000'000'000'000;

void visit(Fields& fields, BucketDefault& bucket) {
  fields.optional("bytes", bucket.bytes, "Of gradients", {Bytes{1}});
  fields.optional("parameters", bucket.parameters, "Whose gradients these are", {1, kMostParameters});
  fields.optional("parameters_per_copy", bucket.parameters_per_copy, "Times the copies, where that is more",
                  {1, kMostParameters});
  if ((bucket.bytes > Bytes::zero()) == (bucket.parameters > 0)) {
    fields.problem("", "conflict", "a bucket has bytes or parameters", "write one of the two");
  }
}

/// Reads each key of a "set".
struct ReadDefault {
  Fields& fields;

  void operator()(const char* key, std::optional<BucketDefault>& value, const Bytes& /*setting*/) const {
    fields.optional_object(key, value, "Of gradients that are reduced at once",
                           [](Fields& inner, BucketDefault& bucket) { visit(inner, bucket); });
  }
  void operator()(const char* key, std::optional<std::uint32_t>& value, const std::uint32_t& /*setting*/) const {
    fields.optional(key, value, "As in a plan", {0, 1024});
  }
  void operator()(const char* key, std::optional<bool>& value, const bool& /*setting*/) const {
    fields.optional(key, value, "As in a plan");
  }
  template <class Kind>
  void operator()(const char* key, std::optional<Kind>& value, const Kind& setting) const {
    fields.optional(key, value, "As in a plan", names_of(setting));
  }
};

void visit_defaults(Fields& fields, PlanDefaults& defaults) {
  const ParallelPlan plan;
  for_each_default(defaults, plan, ReadDefault{fields});
  if (defaults.gradient_bytes && *defaults.gradient_bytes != 2 && *defaults.gradient_bytes != 4) {
    fields.problem("gradient_bytes", "out-of-range", "a gradient has 2 or 4 bytes", "choose one of the two");
  }
}

void visit_rule(Fields& fields, const Sources& sources, FrameworkRule& rule) {
  fields.optional("where", rule.where, "In which plans", names_of(rule.where));
  fields.required_object("set", "Settings of a plan", [&](Fields& inner) { visit_defaults(inner, rule.set); });
  fields.required("by", rule.by, "What in the source says so");
  fields.required_value("source", "A source of this file", [&](FieldValue& value) {
    std::string key;
    value.visit(key);
    const auto source = sources.find(key);
    if (source != sources.end()) {
      rule.source = source->second;
    } else {
      value.problem("unknown-source", fmt::format("source \"{}\" is not in this file", key), "add it to \"sources\"");
    }
  });
}

/// The keys that rules of a kind set.
std::set<std::string> keys_of(const Framework& framework, bool always) {
  std::set<std::string> keys;
  for (const FrameworkRule& rule : framework.rules) {
    if ((rule.where == PlanCondition::always) != always) { continue; }
    for_each_default(rule.set, rule.set, [&](const char* key, const auto& value, const auto& /*same*/) {
      if (value) { keys.insert(key); }
    });
  }
  return keys;
}

/// A framework as the file has it.
struct Draft {
  Framework framework;
  std::string like;  ///< another one, whose rules come before these; "": none
  SourceLocation place;
};
using Drafts = std::map<std::string, Draft>;

void visit_draft(Fields& fields, const Sources& sources, Draft& draft) {
  draft.place = fields.place("like");
  fields.optional("like", draft.like, "Another one of this file, whose rules come before these");
  fields.required("summary", draft.framework.summary, "In one line");
  fields.optional("measured_as", draft.framework.measured_as,
                  "Software whose measured steps tell how fast it computes; absent: as the one that it is like");
  fields.optional("beyond", draft.framework.beyond, "What it does that no setting of a plan says");
  fields.optional_list("rules", draft.framework.rules, "Later ones override earlier ones",
                       [&](Fields& inner, FrameworkRule& rule) { visit_rule(inner, sources, rule); });
}

/// With the rules of those that it is like; none: these are unknown, or go round in a circle.
std::optional<Framework> completed(const Drafts& drafts, const std::string& name) {
  std::vector<const Draft*> chain{&drafts.at(name)};
  while (!chain.back()->like.empty()) {
    const auto next = drafts.find(chain.back()->like);
    if (next == drafts.end() || chain.size() == drafts.size()) { return std::nullopt; }
    chain.push_back(&next->second);
  }
  Framework whole = chain.front()->framework;
  whole.rules.clear();
  for (const Draft* draft : chain) {
    if (whole.measured_as.empty()) { whole.measured_as = draft->framework.measured_as; }
  }
  for (auto draft = chain.rbegin(); draft != chain.rend(); ++draft) {
    const std::vector<FrameworkRule>& rules = (*draft)->framework.rules;
    whole.rules.insert(whole.rules.end(), rules.begin(), rules.end());
  }
  return whole;
}

/// A search goes through plans in which a rule holds and others: what it sets is said for all of them.
void check_conditions(const Framework& framework, const SourceLocation& place, Problems& problems) {
  const std::set<std::string> always = keys_of(framework, true);
  for (const std::string& key : keys_of(framework, false)) {
    if (always.contains(key)) { continue; }
    problems.add({"incomplete", fmt::format("'{}' sets \"{}\" in some plans alone", framework.name, key), place,
                  R"(say what it is else: a rule without "where")"});
  }
}

std::map<std::string, Framework> completed(const Drafts& drafts, Problems& problems) {
  std::map<std::string, Framework> frameworks;
  for (const auto& [name, draft] : drafts) {
    const std::optional<Framework> whole = completed(drafts, name);
    if (!whole) {
      problems.add({"unknown-name", fmt::format("'{}' is like none that stands on its own", name), draft.place,
                    "name another framework of this file"});
      continue;
    }
    check_conditions(*whole, draft.place, problems);
    frameworks[name] = *whole;
  }
  return frameworks;
}

JsonValue json_of_setting(bool value) { return value; }
JsonValue json_of_setting(std::uint32_t value) { return value; }
JsonValue json_of_setting(Bytes value) { return written(value); }
JsonValue json_of_setting(const BucketDefault& bucket) {
  if (bucket.parameters == 0) { return {{"bytes", written(bucket.bytes)}}; }
  JsonValue json{{"parameters", bucket.parameters}};
  if (bucket.parameters_per_copy > 0) { json["parameters_per_copy"] = bucket.parameters_per_copy; }
  return json;
}
template <class Kind>
requires std::is_enum_v<Kind> JsonValue json_of_setting(Kind value) { return name(value); }

}  // namespace

std::map<std::string, Framework> load_frameworks(const Library& library, Problems& problems) {
  if (!library.has(LibraryFolder::presets, kFile)) { return {}; }
  Drafts drafts;
  const Document document = Document::load(library.files(), library.path(LibraryFolder::presets, kFile));
  read_document(document, problems, [&](Fields& file) {
    std::string about;
    Sources sources;
    file.optional("about", about, "What the settings mean");
    file.required_object("sources", "By key", [&](Fields& fields) { read_sources(fields, sources); });
    file.required_object("presets", "By name", [&](Fields& list) {
      list.entries("One framework", [&](const std::string& name, FieldValue& value) {
        Draft& draft = drafts[name];
        draft.framework.name = name;
        value.object([&](Fields& fields) { visit_draft(fields, sources, draft); });
      });
    });
  });
  return completed(drafts, problems);
}

void read_framework(FieldValue& value, const Library& library, Problems& problems, FrameworkUse& use) {
  const std::map<std::string, Framework> all = load_frameworks(library, problems);
  std::vector<std::string> names;
  for (const auto& [name, framework] : all) { names.push_back(name); }
  std::optional<std::string> name;  // nothing is the default
  value.visit(name, OneOf{names});
  if (!value.ok() || !name) { return; }
  if (const auto found = all.find(*name); found != all.end()) {
    use.framework = std::make_shared<const Framework>(found->second);
  } else {
    value.problem("unknown-name", fmt::format("the library in {} has no frameworks", library.directory()));
  }
}

JsonValue defaults_json(const PlanDefaults& defaults) {
  JsonValue json = JsonValue::object();
  for_each_default(defaults, defaults, [&](const char* key, const auto& value, const auto& /*same*/) {
    if (value) { json[key] = json_of_setting(*value); }
  });
  return json;
}

JsonValue assumed_json(const FrameworkUse& use, const ParallelPlan& plan) {
  JsonValue json = JsonValue::object();
  if (!use.framework) { return json; }
  const std::vector<std::string> idle = idle_keys(plan);
  const PlanDefaults defaults = defaults_of(*use.framework, plan);
  for_each_default(defaults, plan, [&](const char* key, const auto& value, const auto& setting) {
    const bool acts = std::find(idle.begin(), idle.end(), key) == idle.end();
    if (acts && value && setting_of(*value, plan) == setting) { json[key] = json_of_setting(setting); }
  });
  return json;
}

}  // namespace athanor
