#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/command.hpp"
#include "tools/command_line/output_choice.hpp"
#include "tools/report/machine_readable.hpp"
#include "tools/report/manifest.hpp"
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
  void add(const ResultRow& row) { results_.rows.push_back(row); }
  /// Requires a row of a run of its own: what --flows and --ports ask of it is written down at once, and dropped.
  void add(TrafficRow row);
  void add(ParameterServerRow row) { results_.parameter_servers.push_back(std::move(row)); }
  void add(TrainingRow row) { results_.training.push_back(std::move(row)); }
  void add(TraceRow row) { results_.traces.push_back(std::move(row)); }
  void add(const Ranking& ranking) { results_.rankings.push_back(ranking); }
  void add(const JobsRow& row) { results_.jobs.push_back(row); }
  /// As Results::lists.
  void add_list(const std::string& key, std::vector<std::string> elements) {
    results_.lists.emplace_back(key, std::move(elements));
  }
  /// What --ports asks of a collective, or of several jobs, on this fabric.
  void add_ports(const ResultRow& row, const Fabric& fabric);
  void add_ports(const JobsRow& row, const Fabric& fabric);
  /// Prints to err at once unless --quiet, and goes to the manifest.
  void warn_of(const std::string& text);

  const Results& results() const { return results_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Writes JSON and CSV, flows and ports. `interrupted`: results are missing.
  void finish(const std::vector<Scenario>& scenarios, bool interrupted);

 private:
  const Invocation& invocation_;
  const Streams& streams_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  OutputChoice choice_;
  Results results_;
  std::string flows_;  ///< lines of --flows
  std::string ports_;  ///< lines of --ports
  std::vector<std::string> warnings_;
};

}  // namespace athanor
