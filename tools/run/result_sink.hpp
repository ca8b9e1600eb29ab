#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/experiments/record.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/output.hpp"

namespace athanor {

struct Case;
struct Scenario;

/// The files besides --json that results go to, each "" for standard output where that is allowed, or absent.
struct ResultFiles {
  std::optional<std::string> csv;
  std::optional<std::string> flows = {};
  std::optional<std::string> ports = {};
  std::optional<std::string> per_job = {};
};

/// Where results go: a table on stdout unless JSON or CSV takes its place there, and files beside it.
class ResultSink {
 public:
  /// Throws UsageError for two formats on stdout and FileError for a file that could not be written in the end.
  ResultSink(const CommonOptions& common, ResultFiles files, const Streams& streams);

  /// Prints where tables go.
  void print(std::string_view text) const { choice_.print(text); }
  /// A result of that case.
  void add(const Case& scenario_case, Record record);
  /// Elements of a further list of the JSON document.
  void add_list(const std::string& key, std::vector<JsonValue> elements);
  /// Prints to err at once unless --quiet, and goes to the manifest.
  void warn_of(const std::string& text);

  /// Writes JSON and CSV, flows, ports and jobs. `interrupted`: results are missing.
  void finish(const std::vector<Scenario>& scenarios, bool interrupted);

 private:
  const CommonOptions& common_;
  ResultFiles files_;
  const Streams& streams_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  OutputChoice choice_;
  std::vector<Record> records_;
  std::vector<const Column*> csv_columns_;
  std::vector<std::pair<std::string, std::vector<JsonValue>>> lists_;
  std::string flows_;    ///< lines of --flows
  std::string ports_;    ///< lines of --ports
  std::string per_job_;  ///< lines of --per-job
  std::vector<std::string> warnings_;
};

}  // namespace athanor
