#include "tools/cli/option_values.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/experiments/scenario/sizes.hpp"
#include "tools/cli/options.hpp"

namespace athanor {

namespace {

/// By athanor's name or by nccl-tests'.
template <class T>
T named(std::string_view command, const char* what, const std::string& word, std::span<const T> all) {
  std::vector<std::string> names;
  for (const T each : all) {
    if (name(each) == word || nccl_name(each) == word) { return each; }
    names.emplace_back(name(each));
  }
  refuse_name(command, what, word, names);
}

}  // namespace

void allow_only(const Invocation& invocation, std::string_view command, std::span<const std::string_view> allowed,
                std::string_view advice) {
  const auto common = common_options();
  for (const auto& [option, value] : invocation.options) {
    if (option == "arguments" || common.find_nothrow(option, false) != nullptr) { continue; }
    if (std::find(allowed.begin(), allowed.end(), option) != allowed.end()) { continue; }
    throw UsageError(fmt::format("{}: --{} {}", command, option, advice));
  }
}

void refuse_name(std::string_view command, const char* what, const std::string& word,
                 const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  throw UsageError(fmt::format(
      "{}: there is no {} '{}'; {}", command, what, word,
      near.empty() ? fmt::format("choose from {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near)));
}

std::vector<std::string> words_of(std::string_view command, const char* option, const std::string& text) {
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

std::uint32_t number_in(std::string_view command, const char* option, const std::string& text, std::uint32_t least) {
  const std::optional<std::uint64_t> value = parse_count(text);
  if (!value || *value < least || *value > UINT32_MAX) {
    throw UsageError(fmt::format("{}: --{} '{}' is not a whole number from {} on", command, option, text, least));
  }
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::uint32_t> number_option(std::string_view command, const Invocation& invocation, const char* option,
                                           std::uint32_t least) {
  if (!invocation.has(option)) { return std::nullopt; }
  return number_in(command, option, invocation.text(option), least);
}

Bytes size_option(std::string_view command, const Invocation& invocation, const char* option) {
  const Bytes size = quantity_option(command, invocation, option, &parse_bytes);
  if (size < Bytes::zero()) {
    throw UsageError(fmt::format("{}: --{} '{}' is negative", command, option, invocation.text(option)));
  }
  return size;
}

std::vector<Bytes> sizes_option(const Invocation& invocation, const char* option) {
  const std::string text = invocation.text(option);
  Parsed<std::vector<Bytes>> sizes = parse_sizes(text);
  if (!sizes.value) {
    throw UsageError(fmt::format("--{} '{}': {}; {}", option, text, sizes.mistake.message,
                                 sizes.mistake.code == "missing-unit"
                                     ? sizes.mistake.hint
                                     : fmt::format("as in --{} 8B..8GiB or --{} 1MiB,3MiB", option, option)));
  }
  return std::move(*sizes.value);
}

Dimensions dimensions_option(std::string_view command, const Invocation& invocation, const char* option) {
  Dimensions dimensions{};
  if (!invocation.has(option)) { return dimensions; }
  const std::string text = invocation.text(option);
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint32_t& side : dimensions) {
    const auto [stop, mistake] = std::from_chars(at, end, side);
    if (mistake != std::errc() || side == 0) { break; }
    if (stop == end) { return dimensions; }
    if (*stop != 'x') { break; }
    at = stop + 1;
  }
  throw UsageError(fmt::format("{}: --{} '{}' is not as in 4x4 or 8x8x16, of {} sides at most", command, option, text,
                               dimensions.size()));
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
