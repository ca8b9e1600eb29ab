#include <fmt/core.h>

#include "models/experiments/scenario/framework_section.hpp"
#include "sim/config/json_value.hpp"
#include "tools/list/listings.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

Json rules_json(const Framework& framework) {
  Json rules = Json::list();
  for (const FrameworkRule& rule : framework.rules) {
    rules.push_back(
        {{"where", name(rule.where)}, {"set", defaults_json(rule.set)}, {"by", rule.by}, {"source", rule.source}});
  }
  return rules;
}

std::string words(const Json& value) {
  if (value.is_string()) { return value.string(); }
  if (!value.is_object()) { return text_of(value); }
  std::string text;
  for (const auto& [key, part] : value.members()) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", words(part), key == "bytes" ? "" : " " + key);
  }
  return text;
}

std::string rule_text(const Json& rule) {
  std::string text;
  const std::string& where = rule["where"].string();
  for (const auto& [key, value] : rule["set"].members()) {
    text += fmt::format("    {} {}{}\n", key, words(value), where == "always" ? "" : fmt::format(", {}", where));
  }
  return text +
         fmt::format("        {}\n        {}\n", wrapped(rule["by"].string(), 8), wrapped(rule["source"].string(), 8));
}

std::string verbose_text(const Json& framework) {
  std::string text;
  for (const Json& rule : framework["rules"].elements()) { text += rule_text(rule); }
  if (!framework["measured_as"].string().empty()) {
    text += fmt::format("    computes as measured steps of {}\n", framework["measured_as"].string());
  }
  for (const Json& each : framework["beyond"].elements()) {
    text += fmt::format("    not modelled: {}\n", wrapped(each.string(), 18));
  }
  return text + "\n";
}

}  // namespace

Listing list_frameworks(const Library& library, bool verbose) {
  Problems problems;
  Json rows = Json::list();
  for (const auto& [name, framework] : load_frameworks(library, problems)) {
    rows.push_back({{"name", name},
                    {"summary", framework.summary},
                    {"rules", rules_json(framework)},
                    {"measured_as", framework.measured_as},
                    {"beyond", framework.beyond}});
  }
  problems.throw_if_any();
  std::string text = verbose ? "" : "# --verbose: what each sets unless told otherwise, and where that is said\n";
  for (const Json& framework : rows.elements()) {
    text += fmt::format("{:<18}{}\n", framework["name"].string(), wrapped(framework["summary"].string(), 18));
    if (verbose) { text += verbose_text(framework); }
  }
  return {rows, text};
}

}  // namespace athanor
