#include "tools/cli/read_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "sim/config/foreign.hpp"
#include "sim/config/json_parser.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/locator.hpp"

namespace athanor {

namespace {

using Form = FieldValue::Form;

/// Larger ones are no figures of a simulation, and beyond what tables and plots can show.
constexpr double kMostFigure = 1e18;
/// An object that keeps the order of its keys looks for each among all others.
constexpr std::size_t kMostKeys = 4096;

constexpr std::array<std::string_view, 23> kWords{
    "scenario", "case",      "collective", "algorithm", "protocol", "type",         "network",   "bound_by",
    "traffic",  "model",     "gpu",        "precision", "schedule", "sharding",     "recompute", "limited_by",
    "update",   "fell_back", "format",     "reduction", "backend",  "busiest_link", "known"};
constexpr std::array<std::string_view, 7> kCounts{"bytes",    "total_bytes", "ranks",    "gpus",
                                                  "channels", "messages",    "endpoints"};
constexpr std::array<std::string_view, 9> kUnits{"_us",      "_s",     "_gbps", "_gb",    "_usd",
                                                 "_per_gpu", "_us_p5", "_j",    "_us_p95"};
constexpr std::array<std::string_view, 6> kFigures{"mfu",      "bubble_fraction", "throughput_ratio",
                                                   "fairness", "bill_w",          "slowdown"};
constexpr std::array<std::string_view, 2> kFlags{"extrapolated", "padded"};

bool is_one_of(std::string_view key, const auto& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_figure(std::string_view key) {
  return is_one_of(key, kFigures) ||
         std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view unit) { return key.ends_with(unit); });
}

void read_word(FieldValue& value) { value.text(); }

void read_words(FieldValue& value) { value.list(&read_word, {0}); }

void read_figure(FieldValue& value) {
  const auto check = [](FieldValue& number) {
    if (std::abs(number.json()->number()) <= kMostFigure) { return; }
    number.problem("out-of-range", "this number is too large for a figure of a simulation", "expected at most 1e18");
  };
  value.one_of({{Form::Type::number, check}});
}

void read_figure_or_null(FieldValue& value) {
  if (value.json() != nullptr && !value.json()->is_null()) { read_figure(value); }
}

/// Of times, rates and the like.
void read_amount_or_null(FieldValue& value) {
  read_figure_or_null(value);
  const JsonValue* const number = value.json();
  if (number != nullptr && number->is_number() && number->number() < 0) {
    value.problem("out-of-range", "this is below zero, which no simulation gives", "expected 0 or more");
  }
}

/// Some are known from the least to the most only.
void read_price(FieldValue& value) {
  if (value.json() != nullptr && value.json()->is_list()) { return value.list(&read_figure, {0}); }
  read_figure_or_null(value);
}

void read_interval_or_null(FieldValue& value) {
  if (value.json() != nullptr && !value.json()->is_null()) { value.list(&read_figure, {2, 2}); }
}

void read_word_or_null(FieldValue& value) {
  if (value.json() != nullptr && !value.json()->is_null()) { read_word(value); }
}

void read_flag(FieldValue& value) {
  bool flag = false;
  value.visit(flag);
}

void read_count(FieldValue& value) {
  std::int64_t count = 0;
  value.visit(count, {0, static_cast<std::int64_t>(kMostFigure)});
}

void read_error(Fields& fields) {
  std::string word;
  fields.required("code", word, "Stable, for scripts");
  fields.required("message", word, "What is wrong");
  for (const char* key : {"file", "pointer", "hint"}) { fields.optional(key, word, "Where it is, and what to do"); }
  fields.entries("Lines and columns", [](const std::string& /*key*/, FieldValue& value) { read_figure(value); });
}

void read_each(Fields& fields, void (*read)(FieldValue&)) {
  fields.entries("Each by its name", [read](const std::string& /*name*/, FieldValue& value) { read(value); });
}

/// Numbers of other keys, too: each can be chosen as the figure that is compared or drawn. A seed is none.
void read_other(const std::string& key, FieldValue& value) {
  if (value.json() != nullptr && value.json()->is_number() && key != "seed") { read_figure(value); }
}

void read_fact(const std::string& key, FieldValue& value) {
  if (is_one_of(key, kWords)) { return read_word(value); }
  if (is_one_of(key, kCounts)) { return read_count(value); }
  if (is_one_of(key, kFlags)) { return read_flag(value); }
  if (key.ends_with("_usd")) { return read_price(value); }
  if (is_figure(key)) { return read_amount_or_null(value); }  // infinite: null
  if (key == "notes" || key == "roots") { return read_words(value); }
  if (key == "trace") { return value.one_of({{Form::Type::string, &read_word}, {Form::Type::list, &read_words}}); }
  if (key == "error") {
    return value.one_of({{Form::Type::number, &read_figure},
                         {Form::Type::object, [](FieldValue& error) { error.object(&read_error); }}});
  }
  if (key == "parameters") {
    return value.object([](Fields& parameters) { read_each(parameters, &read_word); });
  }
  if (key == "breakdown") {
    return value.object([](Fields& shares) { read_each(shares, &read_figure); });
  }
  if (key == "jobs") {
    return value.list([](FieldValue& job) { job.object(&read_result); }, {0});
  }
  read_other(key, value);
}

void read_manifest_file(Fields& fields) {
  std::string path;
  fields.required("path", path, "As it was named");
  fields.required_value("hash", "sha256: and 64 digits; null: it changed meanwhile", &read_word_or_null);
}

void read_manifest_fact(const std::string& key, FieldValue& value) {
  constexpr std::array<std::string_view, 5> kTexts{"version", "git_revision", "compiler", "build", "host"};
  constexpr std::array<std::string_view, 3> kLists{"command_line", "warnings", "extrapolations"};
  if (is_one_of(key, kTexts)) { return read_word(value); }
  if (is_one_of(key, kLists)) { return read_words(value); }
  if (key == "scenarios" || key == "inputs") {
    return value.list([](FieldValue& file) { file.object(&read_manifest_file); }, {0});
  }
  if (key == "seeds") {
    return value.list([](FieldValue& seed) { seed.one_of({{Form::Type::number, [](FieldValue&) {}}}); }, {0});
  }
  if (key == "interrupted") { return read_flag(value); }
  read_other(key, value);
}

/// A pointer to an object of more keys than are read; "": there is none, or the root is it.
const JsonValue* too_many_keys(const JsonValue& value, std::string& pointer) {
  if (value.is_object() && value.size() > kMostKeys) { return &value; }
  const auto look = [&](const std::string& token, const JsonValue& part) {
    const std::size_t length = pointer.size();
    pointer += "/" + token;
    const JsonValue* found = too_many_keys(part, pointer);
    if (found == nullptr) { pointer.resize(length); }
    return found;
  };
  for (std::size_t i = 0; value.is_list() && i < value.size(); ++i) {
    if (const JsonValue* found = look(std::to_string(i), value.elements()[i])) { return found; }
  }
  if (!value.is_object()) { return nullptr; }
  for (const auto& [key, part] : value.members()) {
    if (const JsonValue* found = look(pointer_token(key), part)) { return found; }
  }
  return nullptr;
}

JsonValue checked(const std::string& text, const std::string& file, const FieldValue::VisitObject& read) {
  const Document document = parse_foreign(text, file);
  std::string pointer;
  if (const JsonValue* large = too_many_keys(document.root(), pointer)) {
    throw DocumentError({{"too-large", fmt::format("this object has {} keys", large->size()), document.place(pointer),
                          fmt::format("expected at most {}", kMostKeys)}});
  }
  read_foreign(document, read);
  return json_value_of(text).value();
}

/// As many as there are alternatives.
void read_comparison_row(Fields& line, const char* key, std::size_t alternatives, void (*read)(FieldValue&)) {
  const auto count = static_cast<std::uint32_t>(alternatives);
  line.required_value(key, "One for each alternative", [&](FieldValue& row) { row.list(read, {count, count}); });
}

void read_condition(const std::string& key, FieldValue& value) {
  key == "bytes" ? read_count(value) : read_word(value);
}

void read_comparison_line(Fields& line, std::size_t alternatives, bool costs) {
  read_comparison_row(line, "values", alternatives, &read_figure_or_null);
  if (line.has("intervals")) { read_comparison_row(line, "intervals", alternatives, &read_interval_or_null); }
  read_comparison_row(line, "ratios", alternatives, &read_figure_or_null);
  read_comparison_row(line, "algorithms", alternatives, &read_word_or_null);
  line.required_value("winners", "Who reach the best", &read_words);
  line.optional_value("mixes_software", "Some count software, others do not", &read_flag);
  line.optional_value("certainty", "That the winner wins", &read_figure_or_null);
  if (costs) {
    read_comparison_row(line, "against", alternatives, &read_figure_or_null);
    line.required_value("front", "Whom nobody beats", &read_words);
  }
  line.entries("What tells lines apart", &read_condition);
}

void read_crossover(Fields& crossover) {
  std::string name;
  crossover.required("before", name, "Who wins below");
  crossover.required("after", name, "Who wins above");
  for (const char* key : {"from_bytes", "to_bytes", "at_bytes"}) {
    crossover.required_value(key, "Sizes", &read_figure);
  }
  read_each(crossover, &read_word);
}

void read_comparison_fields(Fields& fields) {
  std::string word;
  std::string cost;
  std::vector<std::string> alternatives;
  for (const char* key : {"by", "figure", "base"}) { fields.required(key, word, "What is compared"); }
  fields.optional("against", cost, "What it costs");
  fields.renamed("contestants", "alternatives");
  fields.required("alternatives", alternatives, "By name");
  const std::size_t count = alternatives.size();
  fields.required_value("lines", "One for each condition", [&](FieldValue& lines) {
    lines.list([&](FieldValue& each) {
      each.object([&](Fields& line) { read_comparison_line(line, count, !cost.empty()); });
    });
  });
  fields.required_value("more_is_better", "Of the figure", &read_flag);
  fields.optional_value("without_software", "Who count none where others do", &read_words);
  fields.optional_value("certain_from", "The certainty that makes a winner", &read_figure);
  read_comparison_row(fields, "mean_ratios", count, &read_figure_or_null);
  read_comparison_row(fields, "wins", count, &read_count);
  read_comparison_row(fields, "extrapolated", count, &read_count);
  fields.optional_objects("crossovers", "Where one overtakes another", &read_crossover);
  fields.optional_value("differences", "Sentences", &read_words);
}

}  // namespace

ResultKind result_kind(std::string_view text) {
  bool results = false;
  bool comparison = false;
  const bool object = visit_root_keys(text, [&](std::string_view key) {
    results = key == "results";
    comparison = key == "alternatives" || key == "contestants";
    return !results && !comparison;  // else enough is known
  });
  if (results) { return ResultKind::results; }
  if (comparison) { return ResultKind::comparison; }
  return object ? ResultKind::other_object : ResultKind::no_object;
}

void read_result(Fields& fields) { fields.entries("A fact of a result", &read_fact); }

JsonValue result_from_text(const std::string& text, const std::string& place) {
  return checked(text, place, &read_result);
}

JsonValue error_from_text(const std::string& text, const std::string& place) {
  return checked(text, place, &read_error);
}

std::vector<std::string> words_from_text(const std::string& text, const std::string& place) {
  std::vector<std::string> words;
  checked("{\"list\":" + text + "}", place, [&](Fields& fields) {
    fields.required_value("list", "Words", [&](FieldValue& list) {
      list.list([&](FieldValue& word) { words.push_back(word.text().value_or("")); }, {0});
    });
  });
  return words;
}

ResultDocument read_results(const std::string& text, const std::string& file) {
  const JsonValue root = checked(text, file, [](Fields& fields) {
    fields.required_objects("results", "What athanor run --json writes", &read_result);
    fields.optional_object("manifest", "How it was simulated",
                           [](Fields& manifest) { manifest.entries("A fact of the run", &read_manifest_fact); });
    fields.entries("Rankings, tables", [](const std::string& /*key*/, FieldValue& /*value*/) {});
  });
  ResultDocument document;
  document.records = root["results"].elements();
  document.manifest = root.contains("manifest") ? root["manifest"] : JsonValue::object();
  return document;
}

JsonValue read_comparison(const std::string& text, const std::string& file) {
  return checked(text, file, &read_comparison_fields);
}

}  // namespace athanor
