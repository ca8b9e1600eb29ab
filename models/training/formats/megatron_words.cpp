#include "models/training/formats/megatron_words.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// The words of all lines, without comments, quotes and the "\" that joins lines.
std::vector<std::string> all_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (const std::string_view part : words_of_line(text.substr(begin, end - begin))) {
      if (part.starts_with('#')) { break; }
      std::string word(part);
      std::erase_if(word, [](char c) { return c == '\\' || c == '"' || c == '\'' || c == '\r'; });
      if (!word.empty()) { words.push_back(std::move(word)); }
    }
    begin = end + 1;
  }
  return words;
}

/// torchrun writes some of its names with '_'.
std::string with_hyphens(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

MegatronWords::MegatronWords(std::string_view text) {
  Argument* current = nullptr;
  for (std::string& word : all_words(text)) {
    if (word.ends_with(".py")) {  // between torchrun's arguments and those of the program
      current = nullptr;
      continue;
    }
    if (!word.starts_with("--")) {
      if (current != nullptr) { current->values.push_back(std::move(word)); }
      continue;
    }
    const std::size_t equal = word.find('=');
    const std::string name = with_hyphens(word.substr(2, equal == std::string::npos ? equal : equal - 2));
    const std::size_t place = arguments_.size();
    const auto [at, is_new] = arguments_.insert({name, Argument{.values = {}, .place = place}});
    if (!is_new) { at->second.values.clear(); }  // the last one counts, as in argparse
    current = &at->second;
    if (equal != std::string::npos) { current->values.push_back(word.substr(equal + 1)); }
  }
}

std::optional<MegatronWords::Argument> MegatronWords::take(const std::string& name) {
  const auto at = arguments_.find(name);
  if (at == arguments_.end()) { return std::nullopt; }
  Argument taken = std::move(at->second);
  arguments_.erase(at);
  return taken;
}

bool MegatronWords::flag(const std::string& name) {
  const auto taken = take(name);
  if (taken && !taken->values.empty()) {
    throw UsageError(fmt::format("--{} takes no value, but '{}' follows it", name, taken->values.front()));
  }
  return taken.has_value();
}

std::optional<std::string> MegatronWords::word(const std::string& name, bool many) {
  const auto taken = take(name);
  if (!taken) { return std::nullopt; }
  if (taken->values.empty() || (!many && taken->values.size() > 1)) {
    throw UsageError(fmt::format("--{} takes one value, but {} follow it", name, taken->values.size()));
  }
  return fmt::format("{}", joined(taken->values, ""));
}

std::vector<std::string> MegatronWords::all(const std::string& name) {
  const auto taken = take(name);
  if (!taken) { return {}; }
  if (taken->values.empty()) { throw UsageError(fmt::format("--{} needs a value", name)); }
  return taken->values;
}

std::optional<std::uint32_t> MegatronWords::number(const std::string& name, std::uint32_t least) {
  const auto text = word(name);
  if (!text) { return std::nullopt; }
  const auto value = whole_number_of(*text);
  if (!value || *value < least || *value > 1'000'000'000) {
    throw UsageError(fmt::format("--{}: '{}' is no whole number of at least {}", name, *text, least));
  }
  return static_cast<std::uint32_t>(*value);
}

std::uint32_t MegatronWords::number_or(const std::string& name, std::uint32_t otherwise, std::uint32_t least) {
  return number(name, least).value_or(otherwise);
}

std::uint32_t MegatronWords::required(const std::string& name, std::string_view why) {
  const auto value = number(name);
  if (!value) { throw UsageError(fmt::format("--{} is missing: {}", name, why)); }
  return *value;
}

std::optional<double> MegatronWords::fraction(const std::string& name) {
  const auto text = word(name);
  if (!text) { return std::nullopt; }
  const auto value = number_of(*text);
  if (!value) { throw UsageError(fmt::format("--{}: '{}' is no number", name, *text)); }
  return value;
}

std::vector<std::string> MegatronWords::rest() const {
  std::vector<std::pair<std::size_t, std::string>> places;
  for (const auto& [name, argument] : arguments_) {
    std::string text = "--" + name;
    for (const std::string& value : argument.values) { text += " " + value; }
    places.emplace_back(argument.place, std::move(text));
  }
  std::sort(places.begin(), places.end());
  std::vector<std::string> texts;
  texts.reserve(places.size());
  for (auto& [place, text] : places) { texts.push_back(std::move(text)); }
  return texts;
}

}  // namespace athanor
