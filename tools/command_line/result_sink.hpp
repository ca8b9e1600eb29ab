#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/command.hpp"
#include "tools/command_line/output_choice.hpp"
#include "tools/report/manifest.hpp"
#include "tools/report/ranking.hpp"
#include "tools/report/result.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// Where results go: a table on stdout unless JSON or CSV takes its place there, and files beside it.
class ResultSink {
 public:
  /// Throws UsageError for two formats on stdout and FileError for a file that could not be written in the end.
  ResultSink(const Invocation& invocation, const Streams& streams);

  /// Whether stdout shows tables for people.
  bool tables() const { return choice_.tables(); }
  /// Prints where tables go.
  void print(std::string_view text) const { choice_.print(text); }
  void add(const ResultRow& row) { rows_.push_back(row); }
  void add(const Ranking& ranking) { rankings_.push_back(ranking); }
  /// Prints to err at once unless --quiet, and goes to the manifest.
  void warn_of(const std::string& text);

  /// Writes JSON and CSV. `interrupted`: results are missing.
  void finish(const std::vector<Scenario>& scenarios, bool interrupted);

 private:
  const Invocation& invocation_;
  const Streams& streams_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  OutputChoice choice_;
  std::vector<ResultRow> rows_;
  std::vector<Ranking> rankings_;
  std::vector<std::string> warnings_;
};

}  // namespace athanor
