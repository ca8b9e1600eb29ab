#include "tools/cli/option_values.hpp"

#include <optional>

#include <fmt/core.h>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// By athanor's name or by nccl-tests'.
template <class T>
T named(std::string_view command, std::string_view what, const std::string& word, std::span<const T> all) {
  std::vector<std::string> names;
  for (const T each : all) {
    if (name(each) == word || nccl_name(each) == word) { return each; }
    names.emplace_back(name(each));
  }
  refuse_name(command, what, word, names);
}

}  // namespace

void refuse_name(std::string_view command, std::string_view what, const std::string& word,
                 const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  throw UsageError(fmt::format(
      "{}: there is no {} '{}'; {}", command, what, word,
      near.empty() ? fmt::format("choose from {}", joined(names, ", ")) : fmt::format("did you mean '{}'?", near)));
}

std::vector<std::string> words_of(std::string_view command, std::string_view option, const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(',', begin);
    std::string word = text.substr(begin, end == std::string::npos ? end : end - begin);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    if (word.empty()) { throw UsageError(fmt::format("{}: --{} '{}' holds an empty word", command, option, text)); }
    words.push_back(std::move(word));
    if (end == std::string::npos) { return words; }
    begin = end + 1;
  }
}

std::uint32_t number_in(std::string_view command, std::string_view option, const std::string& text,
                        std::uint32_t least) {
  const std::optional<std::uint64_t> value = parse_count(text);
  if (!value || *value < least || *value > UINT32_MAX) {
    throw UsageError(fmt::format("{}: --{} '{}' is not a whole number from {} on", command, option, text, least));
  }
  return static_cast<std::uint32_t>(*value);
}

std::vector<Bytes> sizes_in(const std::string& text) {
  Parsed<std::vector<Bytes>> sizes = parse_sizes(text);
  if (!sizes.value) {
    throw UsageError(fmt::format("--sizes '{}': {}; {}", text, sizes.mistake.message,
                                 sizes.mistake.code == "missing-unit"
                                     ? sizes.mistake.hint
                                     : "as in --sizes 8B..8GiB, --sizes 8B..8GiB*4 or --sizes 1MiB,3MiB"));
  }
  return std::move(*sizes.value);
}

CollectiveKind named_collective(std::string_view command, const std::string& word) {
  if (const auto kind = collective_kind(word)) { return *kind; }
  std::vector<std::string> names;
  for (const CollectiveKind each : collective_kinds()) { names.emplace_back(name(each)); }
  refuse_name(command, "collective", word, names);
}

DataType named_type(std::string_view command, const std::string& word) {
  return named(command, "type", word, data_types());
}

Reduction named_reduction(std::string_view command, const std::string& word) {
  return named(command, "reduction", word, reductions());
}

}  // namespace athanor
