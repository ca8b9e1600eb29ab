#include "tools/command_line/run/result_sink.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "tools/command_line/inputs_read.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/report/port_table.hpp"

namespace athanor {

ResultSink::ResultSink(const Invocation& invocation, const Streams& streams)
    : invocation_(invocation), streams_(streams), choice_(invocation, streams) {
  for (const char* option : {"flows", "ports"}) {
    if (invocation.has(option)) { check_writable(invocation.text(option)); }
  }
}

void ResultSink::add(TrafficRow row) {
  if (invocation_.has("flows")) { flows_ += traffic_flow_lines(row); }
  const std::string label = fmt::format("{},{},{}", csv_field(row.case_name), row.size.count(), csv_field(row.pattern));
  ports_ += port_lines(label, row.simulated.network.ports, *row.cluster->fabric, row.simulated.network.observed);
  row.matrix = {};
  row.simulated.messages = {};
  row.simulated.network.ports = {};
  results_.traffic.push_back(std::move(row));
}

void ResultSink::add_ports(const ResultRow& row, const Fabric& fabric) {
  const std::string label =
      fmt::format("{},{},{}", csv_field(row.case_name), row.run.size.count(), csv_field(row.run.algorithm));
  ports_ += port_lines(label, row.run.simulated.network.ports, fabric, row.run.simulated.network.observed);
}

void ResultSink::add_ports(const JobsRow& row, const Fabric& fabric) {
  const std::string label =
      fmt::format("{},{},{} jobs", csv_field(row.case_name), row.size.count(), row.run.jobs.size());
  ports_ += port_lines(label, row.run.simulated.network.ports, fabric, row.run.simulated.network.observed);
}

void ResultSink::warn_of(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) { return; }
  warnings_.push_back(text);
  if (!invocation_.quiet) { warn(streams_, text); }
}

void ResultSink::finish(const std::vector<Scenario>& scenarios, bool interrupted) {
  Manifest manifest{.command_line = invocation_.command_line,
                    .scenarios = {},
                    .inputs = invocation_.has("json") ? inputs_read(invocation_) : std::vector<Manifest::Input>(),
                    .seeds = {},
                    .warnings = warnings_,
                    .interrupted = interrupted};
  for (const Scenario& scenario : scenarios) {
    manifest.scenarios.push_back({scenario.path, scenario.hash});
    for (const Case& each : scenario.cases) {
      if (each.seeds.empty()) { manifest.seeds.push_back(each.seed); }
      manifest.seeds.insert(manifest.seeds.end(), each.seeds.begin(), each.seeds.end());
    }
  }
  manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  choice_.write("json", [&] { return results_json(results_, manifest); });
  choice_.write("csv", [&] { return results_csv(results_); });
  if (invocation_.has("flows")) { write_text_file(invocation_.text("flows"), traffic_flow_names() + flows_); }
  if (invocation_.has("ports")) { write_text_file(invocation_.text("ports"), port_names() + ports_); }
  if (interrupted) { complain(streams_, "interrupted: the results are incomplete"); }
}

}  // namespace athanor
