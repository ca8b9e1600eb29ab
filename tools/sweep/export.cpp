#include "tools/sweep/export.hpp"

#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/output_file.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// Parameters as columns of their own, behind the point; an error as its message.
Json flat(const Json& record) {
  Json line = {{"point", record["point"]}};
  for (const auto& [name, label] : record["parameters"].members()) {
    line[line.contains(name) ? "parameter_" + name : name] = label;
  }
  for (const auto& [key, value] : record.members()) {
    if (key == "parameters" || key == "point") { continue; }
    line[line.contains(key) ? "result_" + key : key] = key == "error" && value.is_object() ? value["message"] : value;
  }
  return line;
}

}  // namespace

std::string sweep_json(SweepDatabase& database, const std::vector<std::string>& command_line, bool interrupted) {
  std::vector<Json> records;
  sweep_records(database, [&](const Json& record) { records.push_back(record); });
  Manifest manifest{.command_line = command_line,
                    .scenarios = {{database.about("scenario"), database.about("scenario_hash")}},
                    .inputs = database.inputs(),
                    .seeds = {},
                    .warnings = {},
                    .interrupted = interrupted};
  return json_document(records, manifest);
}

std::string sweep_csv(SweepDatabase& database) {
  std::vector<Json> lines;
  sweep_records(database, [&](const Json& record) { lines.push_back(flat(record)); });
  return csv_document(keys_of(lines), lines);
}

void sweep_lines(SweepDatabase& database, const std::function<void(std::string_view)>& write) {
  sweep_records(database, [&](const Json& record) { write(text_of(record) + "\n"); });
}

void write_sweep_lines(SweepDatabase& database, const std::string& path) {
  OutputFile file(path);
  sweep_lines(database, [&](std::string_view line) { file.write(line); });
  file.finish();
}

}  // namespace athanor
