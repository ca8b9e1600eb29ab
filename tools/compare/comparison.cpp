#include "tools/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/interval.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/experiment_kinds.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// Keys of what results have of this role.
std::vector<std::string> keys_of(ColumnRole role) {
  std::vector<std::string> keys;
  for (const Column* each : figures_of_all_kinds()) {
    if (each->role == role) { keys.emplace_back(each->key); }
  }
  return keys;
}

/// Of what tells results apart, in the order in which tables show it.
const std::vector<std::string>& telling_keys() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const ColumnRole role : {ColumnRole::subject, ColumnRole::condition, ColumnRole::choice}) {
      for (std::string& key : keys_of(role)) { all.push_back(std::move(key)); }
    }
    return all;
  }();
  return kAll;
}

/// Whether it tells results apart only where they would be the same otherwise.
bool is_choice(const std::string& key) {
  const Column* column = figure_of(key);
  return column != nullptr && column->role == ColumnRole::choice;
}

/// A result and all that it may be told apart by.
struct Facts {
  std::vector<std::pair<std::string, std::string>> words;  ///< key, value
  const Json* record = nullptr;

  const std::string* find(std::string_view key) const {
    const auto found = std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.first == key; });
    return found == words.end() ? nullptr : &found->second;
  }
  std::string value(std::string_view key) const {
    const std::string* found = find(key);
    return found == nullptr ? "" : *found;
  }
};

std::string plain(const Json& value) { return value.is_string() ? value.string() : text_of(value); }

/// Is what a result says of itself ("collective": "all_to_all") the value of a parameter that a sweep varies?
bool says_a_parameter(const Json& record, const std::string& key) {
  if (!record.contains("parameters") || !record[key].is_string()) { return false; }
  const Json& parameters = record["parameters"];
  const auto& members = parameters.members();
  return std::any_of(members.begin(), members.end(), [&](const auto& each) { return each.second == record[key]; });
}

Facts facts_of(const ComparedInput& input, const Json& record) {
  Facts facts;
  facts.record = &record;
  facts.words.emplace_back("input", input.label);
  if (record.contains("parameters")) {
    for (const auto& [key, value] : record["parameters"].members()) { facts.words.emplace_back(key, plain(value)); }
  }
  const auto add = [&](const std::string& key) {
    if (!record.contains(key) || facts.find(key) != nullptr || says_a_parameter(record, key)) { return; }
    facts.words.emplace_back(key, plain(record[key]));
  };
  add(std::string(kCase.key));
  for (const std::string& key : telling_keys()) { add(key); }
  return facts;
}

std::vector<Facts> facts_of(const std::vector<ComparedInput>& inputs) {
  std::vector<Facts> all;
  for (const ComparedInput& input : inputs) {
    for (const Json& record : input.records) {
      if (!record.contains("error") || !record["error"].is_object()) { all.push_back(facts_of(input, record)); }
    }
  }
  if (all.empty()) { throw UsageError("compare: there are no results"); }
  return all;
}

/// The values of a key, as they come; "" where a result has none.
std::vector<std::string> values_of(const std::vector<Facts>& all, std::string_view key) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const Facts& each : all) {
    const std::string value = each.value(key);
    if (seen.insert(value).second) { values.push_back(value); }
  }
  return values;
}

/// All keys but those that tell results apart only where it is needed.
std::vector<std::string> keys_of(const std::vector<Facts>& all) {
  std::vector<std::string> keys;
  for (const Facts& each : all) {
    for (const auto& [key, value] : each.words) {
      const bool further =
          is_choice(key) && !(each.record->contains("parameters") && (*each.record)["parameters"].contains(key));
      if (!further && std::find(keys.begin(), keys.end(), key) == keys.end()) { keys.push_back(key); }
    }
  }
  return keys;
}

std::string chosen_key(const std::vector<Facts>& all, const std::string& asked) {
  const std::vector<std::string> keys = keys_of(all);
  if (!asked.empty()) {
    if (values_of(all, asked) == std::vector<std::string>{""}) {
      throw UsageError(fmt::format("compare: --by: no result has '{}'; they have {}", asked, joined(keys, ", ")));
    }
    return asked;
  }
  std::vector<std::string> order{"input", std::string(kCase.key)};
  for (const std::string& key : keys) {
    if (key != kCollective.key && key != kBytes.key) { order.push_back(key); }
  }
  order.emplace_back(kAlgorithm.key);
  for (const std::string& key : order) {
    if (values_of(all, key).size() > 1) { return key; }
  }
  throw UsageError(
      "compare: there is one alternative alone; give several files, or one with several cases or parameters");
}

bool has_number(const Json& record, const std::string& key) {
  const Json* found = record.find(key);
  return found != nullptr && found->is_number();
}

bool any_has(const std::vector<Facts>& all, const std::string& key) {
  return std::any_of(all.begin(), all.end(), [&](const Facts& each) { return has_number(*each.record, key); });
}

[[noreturn]] void refuse_figure(const std::vector<Facts>& all, const std::string& asked) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : all.front().record->members()) {
    if (value.is_number()) { keys.push_back(key); }
  }
  throw UsageError(
      fmt::format("compare: no result has a number '{}'; the first one has {}", asked, joined(keys, ", ")));
}

/// Sums of bills are absent where a part has no figure, and then nobody is on the front; other keys must be there.
std::string chosen_cost(const std::vector<Facts>& all, const std::string& asked) {
  if (!asked.empty() && asked != "bill_usd" && asked != "bill_w" && !any_has(all, asked)) { refuse_figure(all, asked); }
  return asked;
}

std::string chosen_figure(const std::vector<Facts>& all, const std::string& asked) {
  if (!asked.empty()) {
    if (!any_has(all, asked)) { refuse_figure(all, asked); }
    return asked;
  }
  for (const std::string& key : keys_of(ColumnRole::time)) {
    if (any_has(all, key)) { return key; }
  }
  throw UsageError("compare: the results have no times; choose a --figure");
}

bool more_is_better(std::string_view figure) {
  const Column* column = figure_of(figure);
  return column != nullptr && column->role == ColumnRole::rate;
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name, const char* option) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw UsageError(fmt::format("compare: {}: there is no '{}'; there are {}", option, name, joined(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

using Key = std::vector<std::string>;

Key key_of(const Facts& facts, const std::vector<std::string>& conditions) {
  Key key;
  for (const std::string& condition : conditions) { key.push_back(facts.value(condition)); }
  return key;
}

/// Whether some alternative has two results under these conditions.
bool ambiguous(const std::vector<Facts>& all, const std::string& by, const std::vector<std::string>& conditions) {
  std::set<std::pair<std::string, Key>> seen;
  for (const Facts& each : all) {
    if (!seen.insert({each.value(by), key_of(each, conditions)}).second) { return true; }
  }
  return false;
}

/// What tells lines apart: all that differs and is no alternative, and as much more as is needed.
std::vector<std::string> conditions_of(const std::vector<Facts>& all, const std::string& by) {
  std::vector<std::string> conditions;
  for (const std::string& key : keys_of(all)) {
    const bool follows = key == "input" && by != "input" && values_of(all, key).size() == 1;
    if (key != by && !follows && (key == kBytes.key || values_of(all, key).size() > 1)) { conditions.push_back(key); }
  }
  if (!ambiguous(all, by, conditions)) { return conditions; }
  for (const std::string& key : keys_of(ColumnRole::choice)) {
    if (key == by || values_of(all, key).size() < 2) { continue; }
    conditions.push_back(key);
    if (!ambiguous(all, by, conditions)) { return conditions; }
  }
  throw UsageError(fmt::format("compare: '{}' alone does not tell alternatives apart; choose one of {} with --by", by,
                               joined(keys_of(all), ", ")));
}

/// Of a time in a record, what says something of the interval that it is expected in.
std::string key_of_interval(const Column& time, ColumnRole role) {
  for (const Column* each : figures_of_all_kinds()) {
    if (each->role == role && each->of != nullptr && each->of->key == time.key) { return std::string(each->key); }
  }
  return "";
}

/// The time whose interval tells that of a figure: itself, or the one that it is in inverse proportion to; null: none.
const Column* time_behind(const std::string& figure) {
  const Column* column = figure_of(figure);
  if (column == nullptr) { return nullptr; }
  if (column->role == ColumnRole::time) { return column; }
  return column->role == ColumnRole::rate ? column->of : nullptr;
}

/// `of`: the time behind the entry's figure.
void add_interval(const Json& record, const Column& of, bool rate, ComparisonEntry& entry) {
  const std::string low = key_of_interval(of, ColumnRole::low_end);
  const std::string high = key_of_interval(of, ColumnRole::high_end);
  if (!has_number(record, low) || !has_number(record, high)) { return; }
  const double time = record.number_at(of.key);
  if (time <= 0 || record.number_at(low) <= 0) { return; }
  const double least = record.number_at(low) / time;
  const double most = record.number_at(high) / time;
  entry.interval =
      rate ? std::pair(entry.value / most, entry.value / least) : std::pair(entry.value * least, entry.value * most);
  entry.spread = spread_of(least, most);
  entry.shared = record.number_at(kShared.key);
}

ComparisonEntry entry_of(const Json& record, const Comparison& comparison) {
  ComparisonEntry entry{.value = record[comparison.figure].number(), .algorithm = record.string_at(kAlgorithm.key)};
  const Json* cost = record.find(comparison.against);
  if (cost != nullptr && cost->is_number()) { entry.against = cost->number(); }
  if (const Column* time = time_behind(comparison.figure)) {
    entry.profile = record.string_at(key_of_interval(*time, ColumnRole::profile));
    add_interval(record, *time, comparison.more_is_better, entry);
  }
  return entry;
}

}  // namespace

Comparison compared(const std::vector<ComparedInput>& inputs, const ComparisonRequest& request) {
  const std::vector<Facts> all = facts_of(inputs);
  Comparison result;
  result.by = chosen_key(all, request.by);
  result.figure = chosen_figure(all, request.figure);
  result.more_is_better = more_is_better(result.figure);
  result.against = chosen_cost(all, request.against);
  result.alternatives = values_of(all, result.by);
  if (result.alternatives.size() < 2) {
    throw UsageError(fmt::format("compare: there is one {} alone: {}", result.by, result.alternatives.front()));
  }
  result.base = request.base.empty() ? 0 : index_of(result.alternatives, request.base, "--base");
  result.conditions = conditions_of(all, result.by);
  result.extrapolated.resize(result.alternatives.size());
  std::map<Key, std::size_t> lines;
  for (const Facts& each : all) {
    if (!has_number(*each.record, result.figure)) { continue; }
    const Key key = key_of(each, result.conditions);
    const auto [place, is_new] = lines.try_emplace(key, result.lines.size());
    if (is_new) { result.lines.push_back({.conditions = key, .size = each.record->number_at(kBytes.key)}); }
    ComparisonLine& line = result.lines[place->second];
    line.entries.resize(result.alternatives.size());
    const std::size_t alternative = index_of(result.alternatives, each.value(result.by), "--by");
    line.entries[alternative] = entry_of(*each.record, result);
    const Json* extrapolated = each.record->find(kExtrapolated.key);
    result.extrapolated[alternative] += extrapolated != nullptr && *extrapolated == Json(true) ? 1 : 0;
  }
  std::erase_if(result.lines, [&](const ComparisonLine& line) {
    const auto present =
        std::count_if(line.entries.begin(), line.entries.end(), [](const auto& each) { return each.has_value(); });
    result.unmatched += present < 2 ? 1 : 0;
    return present < 2;
  });
  if (result.lines.empty()) {
    throw UsageError(fmt::format("compare: no two alternatives share a condition ({}); nothing can be compared",
                                 joined(result.conditions, ", ")));
  }
  for (ComparisonLine& line : result.lines) { find_winners(line, result.more_is_better); }
  return result;
}

}  // namespace athanor
