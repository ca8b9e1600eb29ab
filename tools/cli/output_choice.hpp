#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/cli/command.hpp"

namespace athanor {

/// What --json and --csv ask for: a table on stdout unless one of them takes its place there, and files beside it.
class OutputChoice {
 public:
  /// Throws UsageError for two formats on stdout and FileError for a file that could not be written in the end.
  OutputChoice(const Invocation& invocation, const Streams& streams);

  /// Whether stdout shows tables for people.
  bool tables() const { return tables_; }
  /// Prints where tables go.
  void print(std::string_view text) const;
  /// Writes what `text` returns where the option wants it; does nothing where the option is absent.
  void write(const char* option, const std::function<std::string()>& text) const;

 private:
  const Invocation& invocation_;
  const Streams& streams_;
  bool tables_ = true;
};

}  // namespace athanor
