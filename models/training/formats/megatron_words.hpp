#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// A command line taken apart: each "--name" with the words that follow it. Who reads an argument takes it away; what
/// is left at the end was not understood.
class MegatronWords {
 public:
  explicit MegatronWords(std::string_view text);

  /// Whether the flag is there. Throws UsageError where it has a value.
  bool flag(const std::string& name);
  /// Throws UsageError where it is not one whole number, or below `least`.
  std::optional<std::uint32_t> number(const std::string& name, std::uint32_t least = 1);
  std::uint32_t number_or(const std::string& name, std::uint32_t otherwise, std::uint32_t least = 1);
  /// Throws UsageError, saying `why`, where it is absent.
  std::uint32_t required(const std::string& name, std::string_view why);
  std::optional<double> fraction(const std::string& name);
  /// One word; or, with `many`, all that follow, blanks left out.
  std::optional<std::string> word(const std::string& name, bool many = false);

  /// All that follow. Throws UsageError where none does.
  std::vector<std::string> all(const std::string& name);

  /// What nobody has asked for, in the order of the text, as it was written.
  std::vector<std::string> rest() const;

 private:
  struct Argument {
    std::vector<std::string> values;
    std::size_t place = 0;
  };
  std::optional<Argument> take(const std::string& name);

  std::map<std::string, Argument> arguments_;
};

}  // namespace athanor
