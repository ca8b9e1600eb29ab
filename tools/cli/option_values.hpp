#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/parse.hpp"

// What values of options and arguments of several commands mean. All throw UsageError, which begins with the command's
// name and says what to write instead.
namespace athanor {

enum class CollectiveKind : std::uint8_t;
enum class DataType : std::uint8_t;
enum class Reduction : std::uint8_t;

/// "a,b, c" without blanks around the words; an empty word is refused.
std::vector<std::string> words_of(std::string_view command, std::string_view option, const std::string& text);

/// Says that there is no `what` of this name, and which is nearest, or all there are.
[[noreturn]] void refuse_name(std::string_view command, std::string_view what, const std::string& word,
                              const std::vector<std::string>& names);

/// A whole number from `least` on.
std::uint32_t number_in(std::string_view command, std::string_view option, const std::string& text,
                        std::uint32_t least);

/// A quantity with its unit, as in a scenario.
template <class T>
T quantity_in(std::string_view command, std::string_view option, const std::string& text,
              Parsed<T> (*parse)(std::string_view)) {
  const Parsed<T> parsed = parse(text);
  if (!parsed.value) {
    throw UsageError(fmt::format("{}: --{} '{}': {}", command, option, text, parsed.mistake.message));
  }
  return *parsed.value;
}

/// "8B..64MiB", "1KiB,3MiB", of --sizes.
std::vector<Bytes> sizes_in(const std::string& text);

CollectiveKind named_collective(std::string_view command, const std::string& word);
/// athanor's name or nccl-tests'.
DataType named_type(std::string_view command, const std::string& word);
Reduction named_reduction(std::string_view command, const std::string& word);

}  // namespace athanor
