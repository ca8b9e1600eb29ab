#include "models/experiments/scenario/measurement.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/execution/run.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

/// What stands once in the file and counts for all rows that do not say otherwise.
struct Common {
  std::optional<CollectiveKind> collective;
  std::optional<std::uint32_t> ranks;
  std::optional<std::string> algorithm;
  std::optional<DataType> type;
  bool in_place = false;
};

/// Accepted for people and other programs; not needed here.
void ignore(ObjectReader& reader, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    reader.optional_value(key, "Not used in comparisons", [](ValueReader&) {});
  }
}

/// Texts and whole numbers; what is neither is left out.
void keep(const std::string& key, ValueReader& value, Measurement::Facts& facts) {
  const nlohmann::json* json = value.json();
  if (json == nullptr) { return; }
  if (json->is_string()) { facts.emplace_back(key, json->get<std::string>()); }
  if (json->is_number_integer()) { facts.emplace_back(key, json->get<std::int64_t>()); }
}

void read_hardware(ObjectReader& reader, Measurement& measurement, Common& common) {
  std::string gpu;
  std::uint32_t nodes = 1;
  std::optional<std::uint32_t> per_node;
  reader.optional("machine", measurement.machine, "What tells this machine from others");
  reader.optional("gpu", gpu, "Model of the GPUs; \"machine\" or this is there");
  reader.optional("nodes", nodes, "Number of nodes", {1});
  reader.optional("gpus_per_node", per_node, "GPUs that took part, per node");
  reader.optional("ranks", common.ranks, "Where it is not nodes x gpus_per_node", {1});
  reader.entries("Further remarks",
                 [&](const std::string& key, ValueReader& value) { keep(key, value, measurement.hardware_facts); });
  if (!reader.describing() && gpu.empty() && measurement.machine.empty()) {
    reader.problem("", "missing-key", "neither \"gpu\" nor \"machine\" says what was measured on",
                   R"(write "gpu": "H100 SXM" with "nodes" and "gpus_per_node", or "machine": "...")");
  }
  if (per_node && !common.ranks) { common.ranks = std::max(1U, nodes * *per_node); }
  measurement.hardware =
      per_node && !gpu.empty() ? fmt::format("{} x {} {}", nodes, *per_node, gpu) : measurement.machine;
  if (!gpu.empty()) {
    measurement.hardware_facts.insert(measurement.hardware_facts.begin(),
                                      {{"gpu", gpu}, {"nodes", nodes}, {"gpus_per_node", per_node.value_or(0)}});
  }
}

void read_software(ObjectReader& reader, Measurement& measurement, Common& common) {
  reader.optional("algo", common.algorithm, "The library's algorithm; \"auto\": its own choice");
  reader.entries("Versions",
                 [&](const std::string& key, ValueReader& value) { keep(key, value, measurement.software_facts); });
}

void read_collective(ValueReader& value, std::optional<CollectiveKind>& kind) {
  std::string text;
  std::vector<std::string> names{"alltoall"};
  for (const CollectiveKind known : collective_kinds()) { names.emplace_back(name(known)); }
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { kind = collective_kind(text == "alltoall" ? "all_to_all" : text); }
}

/// athanor's name or nccl-tests'; any other text is a remark, and the type is then unknown.
void read_type(ValueReader& value, std::optional<DataType>& type) {
  const auto text = value.text();
  if (!text) { return; }
  type = data_type(*text);
  for (const DataType each : data_types()) {
    if (nccl_name(each) == *text) { type = each; }
  }
}

void read_time(ValueReader& value, std::optional<double>& time_us) {
  if (value.json() != nullptr && value.json()->is_null()) { return; }
  Ratio time;
  value.read(time, {{0, 1}, {INT64_MAX, 1}});
  if (time.numerator > 0) { time_us = to_double(time); }
}

void read_bandwidth(ValueReader& value, std::optional<double>& bandwidth) {
  if (value.json() != nullptr && value.json()->is_number()) { bandwidth = value.json()->get<double>(); }
}

/// Takes the file's value where the row has none.
template <class T>
void settle(ObjectReader& reader, const std::optional<T>& own, const std::optional<T>& common, std::string_view key,
            T& target) {
  if (!own && !common) {
    reader.problem("", "missing-key", fmt::format("neither this row nor the file says \"{}\"", key),
                   fmt::format("add \"{}\" to the row, or to the file where all rows have the same", key));
  }
  target = own ? *own : common.value_or(target);
}

/// From the bus bandwidth, where it has at least three digits: sources print it with two decimals or rounded to 1 GB/s.
void derive_time(Measurement::Row& row) {
  constexpr double kThreeDigits = 100;
  if (row.time_us || row.busbw_gbps.value_or(0) < kThreeDigits) { return; }
  row.time_us = static_cast<double>(row.bytes.count()) * bus_factor(row.collective, row.ranks) / *row.busbw_gbps * 1e-3;
}

/// A bandwidth and a time of one row are the same figure twice. Sources print the one with two decimals or to 1 GB/s,
/// and average the other over other iterations.
void check_bandwidth(ObjectReader& reader, const Measurement::Row& row, const char* key, std::optional<double> printed,
                     double factor) {
  if (!row.time_us || !printed) { return; }
  const double derived = static_cast<double>(row.bytes.count()) * factor / *row.time_us * 1e-3;
  const double rounding = *printed == std::round(*printed) ? 0.5 : 0.01;
  if (std::abs(derived - *printed) <= 0.05 * *printed + rounding) { return; }
  reader.problem(key, "contradiction",
                 fmt::format("{} in {:g} us are {:.4g} GB/s among {} ranks, not {:g}", to_string(row.bytes),
                             *row.time_us, derived, row.ranks, *printed),
                 "is one of them in another unit, or of another collective or number of ranks?");
}

void read_row(ObjectReader& reader, const Common& common, Measurement::Row& row) {
  std::int64_t bytes = 0;
  Common own{.collective = {}, .ranks = {}, .algorithm = {}, .type = common.type, .in_place = common.in_place};
  reader.required("bytes", bytes, "Payload, as nccl-tests counts it", {0});
  reader.required_value("time_us", "Microseconds, the median of iterations; null where only a bandwidth was published",
                        [&](ValueReader& value) { read_time(value, row.time_us); });
  reader.optional_value("min_us", "Microseconds of the fastest iteration",
                        [&](ValueReader& value) { read_time(value, row.min_us); });
  reader.optional_value("collective", "Where rows differ in it",
                        [&](ValueReader& value) { read_collective(value, own.collective); });
  reader.optional("algorithm", own.algorithm, "Where rows differ in it");
  reader.optional("algo", own.algorithm, "The same as \"algorithm\"");
  reader.optional("ranks", own.ranks, "Where rows differ in it", {1});
  reader.optional("gpus", own.ranks, "The same as \"ranks\"", {1});
  reader.optional("in_place", own.in_place, "Input and output were one buffer; absent: as the file says");
  reader.optional_value("type", "Of the elements; absent: as the file says",
                        [&](ValueReader& value) { read_type(value, own.type); });
  reader.optional("iterations", row.iterations, "That were timed", {1});
  reader.optional("reduction", row.reduction, "Where rows differ in it");
  reader.optional("backend", row.backend, "Where rows differ in it: threads, mpi or cuda");
  reader.optional("wrong", row.wrong, "Results that were not what they should be");
  std::optional<double> algorithm_bandwidth;
  reader.optional_value("algbw_gbps", "As the source printed it",
                        [&](ValueReader& value) { read_bandwidth(value, algorithm_bandwidth); });
  reader.optional_value(
      "busbw_gbps",
      "As the source printed it; where there is no time and this is 100 or more, the time follows from it",
      [&](ValueReader& value) { read_bandwidth(value, row.busbw_gbps); });
  if (reader.describing()) { return; }
  row.bytes = Bytes{bytes};
  row.in_place = own.in_place;
  row.type = own.type;
  settle(reader, own.collective, common.collective, "collective", row.collective);
  settle(reader, own.ranks, common.ranks, "ranks", row.ranks);
  settle(reader, own.algorithm, common.algorithm, "algorithm", row.algorithm);
  if (!reader.ok()) { return; }
  check_bandwidth(reader, row, "algbw_gbps", algorithm_bandwidth, 1);
  check_bandwidth(reader, row, "busbw_gbps", row.busbw_gbps, bus_factor(row.collective, row.ranks));
  derive_time(row);
}

void read_settings(ObjectReader& reader, MeasurementSettings& settings) {
  reader.optional("backend", settings.backend, "What carried the schedules out: threads, mpi or cuda");
  reader.optional("channels", settings.channels, "Side by side", {1});
  reader.optional("chunk", settings.chunk, "Most payload of one chunk; absent: all in one loop", {Bytes{1}});
  reader.optional("slices", settings.slices, "Messages per chunk", {1});
  reader.optional("slots", settings.slots, "Per connection; absent: as few as the schedule needs", {1});
  reader.optional("group", settings.group, "Ranks per node, as the schedules were told; 0: all");
  reader.optional("dimensions", settings.dimensions, "Of tori and meshes; absent: the algorithm's own", {1});
  reader.optional("rings", settings.rings, "Of multi_ring, at most; absent or 0: its own");
  reader.optional("root", settings.root, "Of collectives that have one");
  reader.optional("reduction", settings.reduction, "sum, product, minimum, maximum or average");
  reader.optional("warm_up", settings.warm_up, "Iterations that were not timed");
  reader.optional("iterations", settings.iterations, "Timed iterations of each row");
}

/// Two times of the same thing: nobody knows which one counts.
class Repetitions {
 public:
  void check(ObjectReader& reader, const Measurement::Row& row) {
    if (!row.time_us || !reader.ok()) { return; }
    const auto [first, fresh] = first_.try_emplace(
        {row.collective, row.bytes, row.ranks, row.in_place, row.type, row.algorithm, row.reduction, row.backend},
        *row.time_us);
    if (fresh || first->second == *row.time_us) { return; }
    reader.problem("bytes", "repeated-row",
                   fmt::format("{} stands here a second time with {:g} us, after {:g} us", to_string(row.bytes),
                               *row.time_us, first->second),
                   "keep one of the two, or their median; rows that differ say in what: \"algorithm\", \"ranks\", ...");
  }

 private:
  using Key = std::tuple<CollectiveKind, Bytes, std::uint32_t, bool, std::optional<DataType>, std::string, std::string,
                         std::string>;
  std::map<Key, double> first_;
};

void read_rows(ObjectReader& reader, const Common& common, Measurement& measurement) {
  Repetitions repetitions;
  const auto each = [&](const Common& of_rows) {
    return [&, of_rows](ObjectReader& row) {
      read_row(row, of_rows, measurement.rows.emplace_back());
      repetitions.check(row, measurement.rows.back());
    };
  };
  Common in_place = common;
  in_place.in_place = true;
  reader.required_objects("rows", "One per time", each(common));
  reader.optional_objects("rows_in_place", "Rows that were measured in place", each(in_place));
}

void read(ObjectReader& reader, Measurement& measurement) {
  Common common;
  reader.required("id", measurement.id, "The file's name without .json");
  reader.required("source", measurement.source, "Who published it, where");
  reader.optional_value("collective", "What was measured; absent: rows say it",
                        [&](ValueReader& value) { read_collective(value, common.collective); });
  reader.required_object("hardware", "The machine",
                         [&](ObjectReader& inner) { read_hardware(inner, measurement, common); });
  reader.required_object("software", "The library",
                         [&](ObjectReader& inner) { read_software(inner, measurement, common); });
  reader.optional("algorithm", common.algorithm, "Of the rows that name none; or \"algo\" of \"software\"");
  reader.optional("ranks", common.ranks, "Of the rows that name none; or of \"hardware\"", {1});
  reader.optional_value("dtype", "Of the elements, as nccl-tests or athanor names it",
                        [&](ValueReader& value) { read_type(value, common.type); });
  reader.optional("in_place", common.in_place, "Input and output of \"rows\" were one buffer");
  reader.optional("healthy", measurement.healthy, "false: the source says that something was not in order");
  reader.optional("url", measurement.url, "Where it was published");
  reader.optional("date", measurement.date, "When");
  reader.optional("kind", measurement.kind, "The program that measured");
  reader.optional("notes", measurement.notes, "What a reader should know");
  reader.optional_object("settings", "How athanor measured it", [&](ObjectReader& inner) {
    MeasurementSettings settings;
    read_settings(inner, settings);
    measurement.settings = settings;
  });
  ignore(reader, {"$schema"});
  read_rows(reader, common, measurement);
  if (measurement.rows.empty()) { return; }
  const Measurement::Row& first = measurement.rows.front();
  measurement.algorithm = common.algorithm.value_or(first.algorithm);
  measurement.collective = common.collective.value_or(first.collective);
  measurement.ranks = common.ranks.value_or(first.ranks);
}

/// One problem instead of a dozen where the file is something else, such as a scenario or a list.
bool is_measurement(const nlohmann::json& root) {
  return root.is_object() && root.contains("rows") && root["rows"].is_array();
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

bool is_of(const Measurement::Row& row, Reduction reduction) {
  return row.reduction.empty() || row.reduction == name(reduction) || row.reduction == nccl_name(reduction);
}

const Measurement::Row* Measurement::find(const Wanted& wanted, Bytes size) const {
  std::vector<const Row*> rows_of_it;
  for (const Row& row : rows) {
    if (row.collective == wanted.kind && row.bytes == size && row.ranks == wanted.ranks && row.time_us) {
      rows_of_it.push_back(&row);
    }
  }
  const auto first = [&](const auto& fits) {
    std::stable_partition(rows_of_it.begin(), rows_of_it.end(), [&](const Row* row) { return fits(*row); });
  };
  first([&](const Row& row) { return !wanted.reduction || is_of(row, *wanted.reduction); });
  first([&](const Row& row) { return !wanted.type || !row.type || row.type == wanted.type; });
  first([&](const Row& row) { return row.in_place == wanted.in_place; });
  const auto named = [&](const Row* row) { return same_name(row->algorithm, wanted.algorithm); };
  const bool several = std::any_of(rows_of_it.begin(), rows_of_it.end(),
                                   [&](const Row* row) { return row->algorithm != rows_of_it.front()->algorithm; });
  const auto found = several ? std::find_if(rows_of_it.begin(), rows_of_it.end(), named) : rows_of_it.begin();
  return found == rows_of_it.end() ? nullptr : *found;
}

bool Measurement::covers(CollectiveKind of_kind) const {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.collective == of_kind; });
}

bool Measurement::covers(CollectiveKind of_kind, std::uint32_t of_ranks) const {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.collective == of_kind && row.ranks == of_ranks; });
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

nlohmann::json measurement_schema() {
  Measurement measurement;
  auto schema =
      describe_schema("A measurement of collectives", [&](ObjectReader& reader) { read(reader, measurement); });
  for (const char* rows : {"rows", "rows_in_place"}) {
    schema["properties"][rows]["items"]["properties"]["time_us"]["type"] = {"number", "null"};
  }
  return schema;
}

}  // namespace athanor
