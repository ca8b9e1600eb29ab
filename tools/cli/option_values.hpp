#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/error.hpp"
#include "sim/parse.hpp"
#include "tools/cli/command.hpp"

// What options and arguments of several commands hold. All throw UsageError, which begins with the command's name and
// says what to write instead.
namespace athanor {

/// Throws UsageError "COMMAND: --OPTION ADVICE" where an option was given that is neither one of `allowed` nor one of
/// those that every command has.
void allow_only(const Invocation& invocation, std::string_view command, std::span<const std::string_view> allowed,
                std::string_view advice);

/// "a,b, c" without blanks around the words; an empty word is refused.
std::vector<std::string> words_of(std::string_view command, const char* option, const std::string& text);

/// Says that there is no `what` of this name, and which is nearest, or all there are.
[[noreturn]] void refuse_name(std::string_view command, const char* what, const std::string& word,
                              const std::vector<std::string>& names);

/// A whole number from `least` on; none where the option is absent.
std::optional<std::uint32_t> number_option(std::string_view command, const Invocation& invocation, const char* option,
                                           std::uint32_t least);
std::uint32_t number_in(std::string_view command, const char* option, const std::string& text, std::uint32_t least);

/// A quantity with its unit, as in a scenario. Requires that the option is there.
template <class T>
T quantity_option(std::string_view command, const Invocation& invocation, const char* option,
                  Parsed<T> (*parse)(std::string_view)) {
  const Parsed<T> parsed = parse(invocation.text(option));
  if (!parsed.value) {
    throw UsageError(
        fmt::format("{}: --{} '{}': {}", command, option, invocation.text(option), parsed.mistake.message));
  }
  return *parsed.value;
}
/// A size from 0 on.
Bytes size_option(std::string_view command, const Invocation& invocation, const char* option);

/// "8B..64MiB", "1KiB,3MiB".
std::vector<Bytes> sizes_option(const Invocation& invocation, const char* option);

/// "4x4x2"; zeros where the option is absent.
Dimensions dimensions_option(std::string_view command, const Invocation& invocation, const char* option);

CollectiveKind named_collective(std::string_view command, const std::string& word);
/// athanor's name or nccl-tests'.
DataType named_type(std::string_view command, const std::string& word);
Reduction named_reduction(std::string_view command, const std::string& word);

}  // namespace athanor
