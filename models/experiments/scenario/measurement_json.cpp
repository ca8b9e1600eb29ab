#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

Json to_json(const Measurement::Facts& facts) {
  Json json = Json::object();
  for (const auto& [key, value] : facts) {
    std::visit([&json, &key = key](const auto& held) { json[key] = held; }, value);
  }
  return json;
}

/// Six digits: more than any clock gives to a bandwidth.
double six_digits(double value) { return std::stod(fmt::format("{:.6g}", value)); }

/// To the nanosecond, which is what clocks tell.
double rounded(double value) { return static_cast<double>(static_cast<std::int64_t>(value * 1000 + 0.5)) / 1000; }

Json to_json(const Measurement::Row& row) {
  Json json{{"collective", name(row.collective)}, {"algorithm", row.algorithm}, {"ranks", row.ranks}};
  if (!row.backend.empty()) { json["backend"] = row.backend; }
  if (row.type) { json["type"] = name(*row.type); }
  if (!row.reduction.empty()) { json["reduction"] = row.reduction; }
  json["in_place"] = row.in_place;
  json["bytes"] = row.bytes.count();
  json["time_us"] = row.time_us ? Json(rounded(*row.time_us)) : Json(nullptr);
  if (row.min_us) { json["min_us"] = rounded(*row.min_us); }
  if (row.time_us) {
    const double algbw = static_cast<double>(row.bytes.count()) / *row.time_us / 1000;
    json["algbw_gbps"] = six_digits(algbw);
    json["busbw_gbps"] = six_digits(algbw * bus_factor(row.collective, row.ranks));
  } else if (row.busbw_gbps) {
    json["busbw_gbps"] = *row.busbw_gbps;
  }
  if (row.iterations) { json["iterations"] = *row.iterations; }
  if (row.wrong > 0) { json["wrong"] = row.wrong; }
  return json;
}

/// Moves what all rows say alike from the rows to the file, where it is called `in_file`.
void say_once(std::vector<Json>& rows, const char* key, const char* in_file, Json& file) {
  const auto lacks = [&](const Json& row) { return !row.contains(key); };
  if (std::any_of(rows.begin(), rows.end(), lacks)) { return; }
  const Json value = rows.front()[key];
  if (std::any_of(rows.begin(), rows.end(), [&](const Json& row) { return !(row[key] == value); })) { return; }
  file[in_file] = value;
  for (Json& row : rows) { row.erase(key); }
}

}  // namespace

std::string measurement_json(const Measurement& measurement) {
  require(!measurement.rows.empty(), "a measurement without rows");
  std::vector<Json> rows;
  for (const Measurement::Row& row : measurement.rows) { rows.push_back(to_json(row)); }
  Json file{{"id", measurement.id}, {"source", measurement.source}};
  for (const auto& [key, text] : {std::pair{"url", &measurement.url},
                                  {"date", &measurement.date},
                                  {"kind", &measurement.kind},
                                  {"notes", &measurement.notes}}) {
    if (!text->empty()) { file[key] = *text; }
  }
  file["healthy"] = measurement.healthy;
  Json hardware = Json::object();
  if (!measurement.machine.empty()) { hardware["machine"] = measurement.machine; }
  hardware.update(to_json(measurement.hardware_facts));
  file["hardware"] = std::move(hardware);
  file["software"] = to_json(measurement.software_facts);
  if (measurement.settings) { file["settings"] = json_of(*measurement.settings, Detail::complete); }
  say_once(rows, "collective", "collective", file);
  say_once(rows, "algorithm", "algorithm", file);
  say_once(rows, "ranks", "ranks", file);
  say_once(rows, "type", "dtype", file);
  say_once(rows, "in_place", "in_place", file);
  std::string text = text_of(file, 1);
  text.erase(text.size() - 2);  // the closing brace and its line end
  text += ",\n \"rows\": [";
  for (const Json& row : rows) { text += (&row == rows.data() ? "\n  " : ",\n  ") + text_of(row); }
  return text + "\n ]\n}\n";
}

}  // namespace athanor
