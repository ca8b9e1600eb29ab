#include "tools/scenario/measurement.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace athanor {

namespace {

/// Accepted for people and other programs; not needed here.
void ignore(ObjectReader& reader, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    reader.optional_value(key, "Not used in comparisons", [](ValueReader&) {});
  }
}

void read_hardware(ObjectReader& reader, Measurement& measurement) {
  std::string gpu;
  std::uint32_t nodes = 1;
  std::uint32_t per_node = 0;
  std::optional<std::uint32_t> ranks;
  reader.required("gpu", gpu, "Model of the GPUs");
  reader.required("nodes", nodes, "Number of nodes", {1});
  reader.required("gpus_per_node", per_node, "GPUs that took part, per node");
  reader.optional("ranks", ranks, "Where it is not nodes x gpus_per_node", {1});
  reader.entries("Further remarks", [](const std::string&, ValueReader&) {});
  measurement.hardware = fmt::format("{} x {} {}", nodes, per_node, gpu);
  measurement.ranks = ranks.value_or(std::max(1U, nodes * per_node));
}

void read_software(ObjectReader& reader, Measurement& measurement) {
  reader.required("algo", measurement.algorithm, "The library's algorithm; \"auto\": its own choice");
  reader.entries("Versions", [](const std::string&, ValueReader&) {});
}

void read_collective(ValueReader& value, CollectiveKind& kind) {
  std::string text;
  std::vector<std::string> names{"alltoall"};
  for (const CollectiveKind known : collective_kinds()) { names.emplace_back(name(known)); }
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { kind = collective_kind(text == "alltoall" ? "all_to_all" : text).value(); }
}

void read_row(ObjectReader& reader, Measurement::Row& row) {
  std::int64_t bytes = 0;
  reader.required("bytes", bytes, "Payload, as nccl-tests counts it", {0});
  reader.required_value("time_us", "Microseconds; null where only a bandwidth was published", [&](ValueReader& value) {
    if (value.json() != nullptr && value.json()->is_null()) { return; }
    Ratio time;
    value.read(time, {{0, 1}, {INT64_MAX, 1}});
    if (time.numerator > 0) { row.time_us = to_double(time); }
  });
  reader.optional("gpus", row.ranks, "Ranks of this row, where rows differ in it", {1});
  ignore(reader, {"algbw_gbps", "busbw_gbps", "algo"});
  row.bytes = Bytes{bytes};
}

void read(ObjectReader& reader, Measurement& measurement) {
  reader.required("id", measurement.id, "The file's name without .json");
  reader.required("source", measurement.source, "Who published it, where");
  reader.required_value("collective", "What was measured",
                        [&](ValueReader& value) { read_collective(value, measurement.collective); });
  reader.required_object("hardware", "The machine", [&](ObjectReader& inner) { read_hardware(inner, measurement); });
  reader.required_object("software", "The library", [&](ObjectReader& inner) { read_software(inner, measurement); });
  reader.required_objects("rows", "One per size",
                          [&](ObjectReader& row) { read_row(row, measurement.rows.emplace_back()); });
  ignore(reader, {"$schema", "url", "date", "dtype", "in_place", "healthy", "kind", "notes", "rows_in_place"});
}

/// One problem instead of a dozen where the file is something else, such as a scenario or a list.
bool is_measurement(const nlohmann::json& root) {
  return root.is_object() && root.contains("rows") && root["rows"].is_array();
}

}  // namespace

std::optional<double> Measurement::time_us(Bytes size, std::uint32_t of_ranks) const {
  for (const Row& row : rows) {
    if (row.bytes == size && row.ranks.value_or(ranks) == of_ranks && row.time_us) { return row.time_us; }
  }
  return std::nullopt;
}

bool Measurement::covers(std::uint32_t of_ranks) const {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.ranks.value_or(ranks) == of_ranks; });
}

Measurement read_measurement(const std::string& path, Problems& problems) {
  const Document document = Document::load(path);
  Measurement measurement;
  if (!is_measurement(document.root())) {
    problems.add({"not-a-measurement", "this file is not a measurement: it has no list \"rows\"", document.place(""),
                  R"(a measurement holds "id", "source", "collective", "hardware", "software" and "rows" of )"
                  R"({"bytes": 8, "time_us": 38.63})"});
    return measurement;
  }
  read_document(document, problems, [&](ObjectReader& reader) { read(reader, measurement); });
  return measurement;
}

}  // namespace athanor
