#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/option_values.hpp"

namespace athanor {

/// One option of a command, bound to where its value goes.
struct OptionField {
  std::string name;     ///< "sizes", as in --sizes
  std::string letter;   ///< "o", as in -o; "": none
  std::string value;    ///< what help calls the value: "SIZES"; "[=FILE]": it may be left out; "": a switch
  std::string meaning;  ///< for help, the manual page and completion
  std::string absent;   ///< the value of an option that is absent, where help shows it
  bool repeatable = false;
  bool writes_file = false;  ///< the value names a file that the command writes, which must be none that it reads
  std::function<void(const std::string&)> take;  ///< called with each value that is given; throws UsageError
};

/// Options under one heading of the help text.
struct OptionGroup {
  std::string heading;
  std::vector<OptionField> fields;
};

/// The options of one command. A struct of options has a function `visit(OptionFields&, Options&)` that names each of
/// its members here, once: reading the command line, help, manual page and completion follow from it. Members keep what
/// they hold where the option is absent. Names are as in "output,o": the short form behind the comma.
class OptionFields {
 public:
  /// `command`: its name, which errors begin with.
  explicit OptionFields(std::string_view command) : command_(command) {}

  /// The heading of what stands before any other group; else it is "options".
  void heading(const char* text) { groups_.front().heading = text; }
  /// What follows stands under this heading.
  void group(const char* heading) { groups_.push_back({heading, {}}); }

  void flag(const char* name, bool& target, const char* meaning);
  void text(const char* name, const char* value, std::optional<std::string>& target, const char* meaning);
  /// With a value that holds where the option is absent, which help shows.
  void text(const char* name, const char* value, std::string& target, const char* meaning);
  /// May be given several times.
  void texts(const char* name, const char* value, std::vector<std::string>& target, const char* meaning);
  /// A file that the command writes.
  void written_file(const char* name, std::optional<std::string>& target, const char* meaning);
  /// The same, which may be left out: "" is standard output.
  void written_file_or_stdout(const char* name, std::optional<std::string>& target, const char* meaning);

  /// A whole number from `least` on.
  void number(const char* name, const char* value, std::optional<std::uint32_t>& target, std::uint32_t least,
              const char* meaning);
  void number(const char* name, const char* value, std::uint32_t& target, std::uint32_t least, const char* meaning);
  /// Such numbers, as in 1,2,4.
  void numbers(const char* name, const char* value, std::vector<std::uint32_t>& target, std::uint32_t least,
               const char* meaning);
  /// Words, as in ring,tree.
  void words(const char* name, const char* value, std::optional<std::vector<std::string>>& target, const char* meaning);
  /// A size from 0 on, with its unit.
  void size(const char* name, const char* value, std::optional<Bytes>& target, const char* meaning);
  /// "4x4x2", of so many sides at most; the others stay.
  void dimensions(const char* name, const char* value, std::span<std::uint32_t> target, const char* meaning);
  /// Another quantity with its unit, as in a scenario.
  template <class T>
  void quantity(const char* name, const char* value, std::optional<T>& target, Parsed<T> (*parse)(std::string_view),
                const char* meaning) {
    convert(name, value, target, meaning, [this, parse](const std::string& option, const std::string& text) {
      return quantity_in(command_, option, text, parse);
    });
  }

  const std::vector<OptionGroup>& groups() const { return groups_; }

 private:
  OptionField& add(const char* name, const char* value, const char* meaning);
  /// `parse`: the value of an option's name and text.
  template <class T, class Parse>
  void convert(const char* name, const char* value, T& target, const char* meaning, Parse parse) {
    OptionField& field = add(name, value, meaning);
    field.take = [option = field.name, &target, parse](const std::string& text) { target = parse(option, text); };
  }

  std::string command_;
  std::vector<OptionGroup> groups_{{"options", {}}};
};

}  // namespace athanor
