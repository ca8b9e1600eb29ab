#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/output_file.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

struct CommonOptions;

/// Throws FileError when `path` cannot be made or written: asked before hours of simulation. Creates nothing.
void check_writable(const std::string& path);
/// The same where a path is given.
void check_writable(const std::optional<std::string>& path);

/// Writes a text to the file; "" is standard output.
void write_to(const std::string& path, const Streams& streams, const std::string& text);

/// A JSON document and a line end where --json says, or on standard output.
void write_json(const CommonOptions& common, const Streams& streams, const std::string& text);

/// What --json and --csv ask for: a table on stdout unless one of them takes its place there, and files beside it.
/// Each is a file, "" for stdout, or absent.
class OutputChoice {
 public:
  /// Throws UsageError for two formats on stdout and FileError for a file that could not be written in the end.
  OutputChoice(std::optional<std::string> json, std::optional<std::string> csv, const Streams& streams);

  /// Prints where tables go.
  void print(std::string_view text) const;
  /// Write what `text` returns where it is wanted, and else do not ask for it.
  void write_json(const std::function<std::string()>& text) const;
  void write_csv(const std::function<std::string()>& text) const;

 private:
  std::optional<std::string> json_;
  std::optional<std::string> csv_;
  const Streams& streams_;
  bool tables_;
};

}  // namespace athanor
