#include "tools/run/result_sink.hpp"

#include <algorithm>

#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/shared_cluster_record.hpp"
#include "models/experiments/table.hpp"
#include "models/experiments/traffic.hpp"
#include "tools/cli/machine_readable.hpp"

namespace athanor {

ResultSink::ResultSink(const CommonOptions& common, ResultFiles files, const Streams& streams)
    : common_(common), files_(std::move(files)), streams_(streams), choice_(common.json, files_.csv, streams) {
  check_writable(files_.flows);
  check_writable(files_.ports);
  check_writable(files_.per_job);
}

void ResultSink::add(const Case& scenario_case, Record record) {
  for (const Column* column : scenario_case.experiment->csv_columns()) {
    if (std::find(csv_columns_.begin(), csv_columns_.end(), column) == csv_columns_.end()) {
      csv_columns_.push_back(column);
    }
  }
  flows_ += std::exchange(record.flows, {});
  ports_ += std::exchange(record.ports, {});
  per_job_ += std::exchange(record.per_job, {});
  records_.push_back(std::move(record));
}

void ResultSink::add_list(const std::string& key, std::vector<JsonValue> elements) {
  const auto found = std::find_if(lists_.begin(), lists_.end(), [&](const auto& each) { return each.first == key; });
  if (found == lists_.end()) {
    lists_.emplace_back(key, std::move(elements));
  } else {
    found->second.insert(found->second.end(), elements.begin(), elements.end());
  }
}

void ResultSink::warn_of(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) { return; }
  warnings_.push_back(text);
  if (!common_.quiet) { warn(streams_, text); }
}

void ResultSink::finish(const std::vector<Scenario>& scenarios, bool interrupted) {
  Manifest manifest{
      .command_line = common_.command_line,
      .scenarios = {},
      .inputs = common_.json ? InputsRead(common_.library.files()).fresh() : std::vector<Manifest::Input>(),
      .seeds = {},
      .warnings = warnings_,
      .interrupted = interrupted};
  for (const Scenario& scenario : scenarios) {
    manifest.scenarios.push_back({scenario.path, scenario.hash});
    for (const Case& each : scenario.cases) {
      if (each.seeds.empty()) { manifest.seeds.push_back(each.platform.seed); }
      manifest.seeds.insert(manifest.seeds.end(), each.seeds.begin(), each.seeds.end());
    }
  }
  manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  choice_.write_json([&] { return json_document(json_of(records_), lists_, manifest); });
  choice_.write_csv([&] { return csv_document(csv_columns_, records_); });
  if (files_.flows) { write_text_file(*files_.flows, flow_names() + flows_); }
  if (files_.per_job) { write_text_file(*files_.per_job, per_job_names() + per_job_); }
  if (files_.ports) { write_text_file(*files_.ports, port_names() + ports_); }
  if (interrupted) { complain(streams_, "interrupted: the results are incomplete"); }
}

}  // namespace athanor
