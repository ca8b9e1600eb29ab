#include "tools/report/machine_readable.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/check.hpp"
#include "sim/json/text.hpp"
#include "tools/report/port_table.hpp"
#include "tools/report/slots_json.hpp"
#include "tools/report/version.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ResultRow& row) {
  const RunResult& run = row.run;
  Json json = {{"scenario", row.scenario},
               {"case", row.case_name},
               {"collective", name(row.collective.kind)},
               {"algorithm", run.algorithm},
               {"protocol", run.protocol},
               {"channels", run.channels},
               {"ranks", row.collective.ranks},
               {"bytes", run.size.count()},
               {"type", name(row.type)},
               {"root", printed_root(row.collective)},
               {"time_us", microseconds(run.time)},
               {"algbw_gbps", algorithm_bandwidth(row)},
               {"busbw_gbps", bus_bandwidth(row)},
               {"bound_time_us", microseconds(run.bound.time)},
               {"bound_by", run.bound.limited_by},
               {"limited_by", run.limited_by},
               {"network", row.network},
               {"extrapolated", run.extrapolated},
               {"padded", run.padded},
               {"notes", run.notes}};
  if (const auto relative = error(row)) {
    json["measured_time_us"] = *row.measured_us;
    json["error"] = *relative;
  }
  if (row.overlap) {
    json["total_time_us"] = microseconds(row.overlap->total);
    json["host_time_us"] = microseconds(row.overlap->communicating);
    json["overlap"] = row.overlap->share;
  }
  if (!run.roots.empty()) { json["roots"] = run.roots; }
  if (!run.fell_back.empty()) { json["fell_back"] = run.fell_back; }
  if (run.slots) { json["slots"] = slots_json(*run.slots); }
  if (run.simulated.network.packets) { json["packets"] = packets_json(*run.simulated.network.packets); }
  if (row.spread) {
    json["seeds"] = row.spread->seeds;
    json["time_us_p5"] = microseconds(row.spread->p5);
    json["time_us_p95"] = microseconds(row.spread->p95);
    json["busbw_gbps_p5"] = bus_bandwidth(row, row.spread->p95);
    json["busbw_gbps_p95"] = bus_bandwidth(row, row.spread->p5);
  }
  return json;
}

/// `each_job`: a record for each of several jobs, else one with all of them.
std::vector<Json> all_to_json(const Results& results, bool each_job) {
  std::vector<Json> all;
  for (const ResultRow& row : results.rows) { all.push_back(to_json(row)); }
  for (const TrafficRow& row : results.traffic) { all.push_back(traffic_json(row)); }
  for (const JobsRow& row : results.jobs) {
    if (each_job) {
      for (Json& record : jobs_records(row)) { all.push_back(std::move(record)); }
    } else {
      all.push_back(jobs_json(row));
    }
  }
  for (const ParameterServerRow& row : results.parameter_servers) { all.push_back(parameter_server_json(row)); }
  for (const TrainingRow& row : results.training) { all.push_back(training_json(row)); }
  for (const TraceRow& row : results.traces) { all.push_back(trace_json(row)); }
  return all;
}

/// The keys of all results, each where it comes first.
Json columns_of(const std::vector<Json>& results) {
  Json columns = Json::object();
  for (const Json& result : results) {
    for (const auto& [key, value] : result.items()) {
      if (!columns.contains(key)) { columns[key] = nullptr; }
    }
  }
  return columns;
}

/// One field of a CSV line; quoted where it holds a comma, a quote or a line end.
std::string field(const Json& value) {
  if (!value.is_string() && !value.is_array()) { return csv_field(text_of(value)); }
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else {
    for (const Json& part : value) {
      text += (text.empty() ? "" : "; ") + (part.is_string() ? part.get<std::string>() : text_of(part));
    }
  }
  return csv_field(text);
}

/// "key": [...], with an element a line, and the comma behind it.
std::string list_text(std::string_view key, const std::vector<std::string>& elements) {
  std::string text = fmt::format("\"{}\": [", key);
  for (const std::string& each : elements) { text += (&each == elements.data() ? "\n  " : ",\n  ") + each; }
  return text + "\n],\n";
}

std::string list_text(std::string_view key, const std::vector<Json>& elements) {
  std::vector<std::string> texts;
  for (const Json& each : elements) { texts.push_back(text_of(each)); }
  return list_text(key, texts);
}

std::string end_text(const Manifest& manifest, const std::vector<Json>& results) {
  return "\"manifest\": " + text_of(manifest_record(manifest, results), 2) + "}\n";
}

/// Files and their hashes; null for one that is not any more what was read.
Json inputs_json(const std::vector<Manifest::Input>& inputs) {
  Json list = Json::array();
  for (const Manifest::Input& input : inputs) {
    list.push_back({{"path", input.path}, {"hash", input.hash.empty() ? Json() : Json(input.hash)}});
  }
  return list;
}

/// Which results are outside of what their profiles were fitted on, a sentence for each case and reason.
Json extrapolations_of(const std::vector<Json>& results) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> outside;  // of each case: so many of so many
  const auto of_case = [](const std::string& label) { return label.empty() ? label : label + ": "; };
  Json sentences = Json::array();
  for (const Json& result : results) {
    const std::string label = result.value("case", "");
    ++outside[label].second;
    if (result.value("extrapolated", Json()) == true) { ++outside[label].first; }
    if (!result.contains("notes") || !result["notes"].is_array()) { continue; }
    for (const Json& note : result["notes"]) {
      const std::string text = note.is_string() ? note.get<std::string>() : "";
      if (!text.starts_with("extrapolated: ")) { continue; }
      const Json sentence = of_case(label) + text.substr(text.find(' ') + 1);
      if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) { sentences.push_back(sentence); }
    }
  }
  for (const auto& [label, count] : outside) {
    if (count.first == 0) { continue; }
    sentences.push_back(fmt::format("{}{} of {} results are outside of what the profile was fitted on", of_case(label),
                                    count.first, count.second));
  }
  return sentences;
}

Json to_json(const Ranking& ranking) {
  return {{"case", ranking.case_name},        {"bytes", ranking.size.count()},
          {"algorithms", ranking.algorithms}, {"correlation", ranking.correlation},
          {"predicted", ranking.predicted},   {"measured", ranking.measured},
          {"regret", ranking.regret}};
}

}  // namespace

Json manifest_record(const Manifest& manifest, const std::vector<Json>& results) {
  Json json = {{"version", version()},
               {"git_revision", git_revision()},
               {"compiler", compiler()},
               {"build", build_facts()},
               {"scenarios", inputs_json(manifest.scenarios)},
               {"inputs", inputs_json(manifest.inputs)},
               {"seeds", manifest.seeds},
               {"command_line", manifest.command_line},
               {"host", host_name()},
               {"wall_time_s", manifest.wall_seconds},
               {"interrupted", manifest.interrupted},
               {"warnings", manifest.warnings},
               {"extrapolations", extrapolations_of(results)}};
  if (!manifest.machine.empty()) { json["machine"] = manifest.machine; }
  return json;
}

std::string json_document(const std::vector<Json>& results, const Manifest& manifest) {
  return "{" + list_text("results", results) + end_text(manifest, results);
}

std::string json_document(const std::vector<Json>& results, std::string_view key, const Json& beside,
                          const Manifest& manifest) {
  return fmt::format("{{{}\"{}\": {},\n{}", list_text("results", results), key, text_of(beside, 2),
                     end_text(manifest, results));
}

std::string csv_document(const Json& columns, const std::vector<Json>& results) {
  std::string text;
  for (const auto& [key, value] : columns.items()) { text += (text.empty() ? "" : ",") + csv_field(key); }
  for (const Json& result : results) {
    text += "\n";
    bool first = true;
    for (const auto& [key, value] : columns.items()) {
      text += (first ? "" : ",") + (result.contains(key) ? field(result[key]) : "");
      first = false;
    }
  }
  return text + "\n";
}

std::string results_json(const Results& results, const Manifest& manifest) {
  const std::vector<Json> records = result_records(results);
  std::string lists = list_text("results", records);
  std::vector<Json> orders;
  for (const Ranking& each : results.rankings) { orders.push_back(to_json(each)); }
  if (!orders.empty()) { lists += list_text("rankings", orders); }
  for (const auto& [key, elements] : results.lists) { lists += list_text(key, elements); }
  return "{" + lists + end_text(manifest, records);
}

std::vector<Json> result_records(const Results& results) { return all_to_json(results, false); }

std::string results_csv(const Results& results) {
  std::vector<Json> rows = all_to_json(results, true);
  Json columns = Json::object();
  if (!results.rows.empty() || rows.empty()) {
    ResultRow sample;
    sample.measured_us = 1;
    columns = to_json(sample);
  }
  columns.update(columns_of(rows));
  return csv_document(columns, rows);
}

Json problem_record(const Problem& problem) {
  return {{"code", problem.code},       {"message", problem.message},     {"file", problem.place.file},
          {"line", problem.place.line}, {"column", problem.place.column}, {"pointer", problem.place.pointer},
          {"hint", problem.hint}};
}

std::string problems_json(const std::vector<Problem>& problems) {
  require(!problems.empty(), "an error without a problem");
  Json all = Json::array();
  for (const Problem& problem : problems) { all.push_back(problem_record(problem)); }
  return text_of(Json{{"error", all.front()}, {"errors", all}}, 2) + "\n";
}

}  // namespace athanor
