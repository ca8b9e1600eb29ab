#include "models/experiments/scenario/measurement.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "sim/file.hpp"
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
void ignore(Fields& fields, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    fields.optional_value(key, "Not used in comparisons", [](FieldValue&) {});
  }
}

/// Texts and whole numbers; what is neither is left out.
void keep(const std::string& key, FieldValue& value, Measurement::Facts& facts) {
  const JsonValue* json = value.json();
  if (json == nullptr) { return; }
  if (json->is_string()) { facts.emplace_back(key, json->string()); }
  if (const auto number = json->whole()) { facts.emplace_back(key, *number); }
}

/// Of nodes without GPUs.
std::string cpu_of(const Measurement::Facts& facts) {
  for (const auto& [key, value] : facts) {
    const auto* text = std::get_if<std::string>(&value);
    if (key == "cpu" && text != nullptr) { return *text; }
  }
  return "CPUs";
}

void read_hardware(Fields& fields, Measurement& measurement, Common& common) {
  std::string gpu;
  std::uint32_t nodes = 1;
  std::optional<std::uint32_t> per_node;
  fields.optional("machine", measurement.machine, "What tells this machine from others");
  fields.optional("gpu", gpu, "Model of the GPUs; \"machine\" or this is there");
  fields.optional("nodes", nodes, "Number of nodes", {1});
  fields.optional("gpus_per_node", per_node, "GPUs that took part, per node");
  fields.optional("ranks", common.ranks, "Where it is not nodes x gpus_per_node", {1});
  fields.entries("Further remarks",
                 [&](const std::string& key, FieldValue& value) { keep(key, value, measurement.hardware_facts); });
  if (gpu.empty() && measurement.machine.empty()) {
    fields.problem("", "missing-key", "neither \"gpu\" nor \"machine\" says what was measured on",
                   R"(write "gpu": "H100 SXM" with "nodes" and "gpus_per_node", or "machine": "...")");
  }
  if (per_node && !common.ranks) { common.ranks = std::max(1U, nodes * *per_node); }
  if (per_node && *per_node == 0) {
    measurement.hardware = fmt::format("{} x {}", nodes, cpu_of(measurement.hardware_facts));
  } else {
    measurement.hardware =
        per_node && !gpu.empty() ? fmt::format("{} x {} {}", nodes, *per_node, gpu) : measurement.machine;
  }
  if (!gpu.empty()) {
    measurement.hardware_facts.insert(measurement.hardware_facts.begin(),
                                      {{"gpu", gpu}, {"nodes", nodes}, {"gpus_per_node", per_node.value_or(0)}});
  }
}

void read_software(Fields& fields, Measurement& measurement, Common& common) {
  fields.optional("algo", common.algorithm, "The library's algorithm; \"auto\": its own choice");
  fields.entries("Versions",
                 [&](const std::string& key, FieldValue& value) { keep(key, value, measurement.software_facts); });
}

void read_collective(FieldValue& value, std::optional<CollectiveKind>& kind) {
  std::string text;
  std::vector<std::string> names{"alltoall"};
  for (const CollectiveKind known : collective_kinds()) { names.emplace_back(name(known)); }
  value.visit(text, OneOf{names});
  if (value.ok()) { kind = collective_kind(text == "alltoall" ? "all_to_all" : text); }
}

/// athanor's name or nccl-tests'; any other text is a remark, and the type is then unknown.
void read_type(FieldValue& value, std::optional<DataType>& type) {
  const auto text = value.text();
  if (!text) { return; }
  type = data_type(*text);
  for (const DataType each : data_types()) {
    if (nccl_name(each) == *text) { type = each; }
  }
}

void read_time(FieldValue& value, std::optional<double>& time_us) {
  if (value.json() != nullptr && value.json()->is_null()) { return; }
  Ratio time;
  value.visit(time, {{0, 1}, {INT64_MAX, 1}});
  if (time.numerator > 0) { time_us = to_double(time); }
}

void read_bandwidth(FieldValue& value, std::optional<double>& bandwidth) {
  if (value.json() != nullptr && value.json()->is_number()) { bandwidth = value.json()->number(); }
}

/// Takes the file's value where the row has none.
template <class T>
void settle(Fields& fields, const std::optional<T>& own, const std::optional<T>& common, std::string_view key,
            T& target) {
  if (!own && !common) {
    fields.problem("", "missing-key", fmt::format("neither this row nor the file says \"{}\"", key),
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
void check_bandwidth(Fields& fields, const Measurement::Row& row, const char* key, std::optional<double> printed,
                     double factor) {
  if (!row.time_us || !printed) { return; }
  const double derived = static_cast<double>(row.bytes.count()) * factor / *row.time_us * 1e-3;
  const double rounding = *printed == std::round(*printed) ? 0.5 : 0.01;
  if (std::abs(derived - *printed) <= 0.05 * *printed + rounding) { return; }
  fields.problem(key, "contradiction",
                 fmt::format("{} in {:g} us are {:.4g} GB/s among {} ranks, not {:g}", to_string(row.bytes),
                             *row.time_us, derived, row.ranks, *printed),
                 "is one of them in another unit, or of another collective or number of ranks?");
}

void read_row(Fields& fields, const Common& common, Measurement::Row& row) {
  std::int64_t bytes = 0;
  Common own{.collective = {}, .ranks = {}, .algorithm = {}, .type = common.type, .in_place = common.in_place};
  fields.required("bytes", bytes, "Payload, as nccl-tests counts it", {0});
  fields.required_value("time_us", "Microseconds, the median of iterations; null where only a bandwidth was published",
                        [&](FieldValue& value) { read_time(value, row.time_us); });
  fields.optional_value("min_us", "Microseconds of the fastest iteration",
                        [&](FieldValue& value) { read_time(value, row.min_us); });
  fields.optional_value("collective", "Where rows differ in it",
                        [&](FieldValue& value) { read_collective(value, own.collective); });
  fields.optional("algorithm", own.algorithm, "Where rows differ in it");
  fields.optional("algo", own.algorithm, "The same as \"algorithm\"");
  fields.optional("ranks", own.ranks, "Where rows differ in it", {1});
  fields.optional("gpus", own.ranks, "The same as \"ranks\"", {1});
  fields.optional("in_place", own.in_place, "Input and output were one buffer; absent: as the file says");
  fields.optional_value("type", "Of the elements; absent: as the file says",
                        [&](FieldValue& value) { read_type(value, own.type); });
  fields.optional("iterations", row.iterations, "That were timed", {1});
  fields.optional("reduction", row.reduction, "Where rows differ in it");
  fields.optional("backend", row.backend, "Where rows differ in it: threads, mpi or cuda");
  fields.optional("wrong", row.wrong, "Results that were not what they should be");
  std::optional<double> algorithm_bandwidth;
  fields.optional_value("algbw_gbps", "As the source printed it",
                        [&](FieldValue& value) { read_bandwidth(value, algorithm_bandwidth); });
  fields.optional_value(
      "busbw_gbps",
      "As the source printed it; where there is no time and this is 100 or more, the time follows from it",
      [&](FieldValue& value) { read_bandwidth(value, row.busbw_gbps); });
  if (!fields.reading()) { return; }
  row.bytes = Bytes{bytes};
  row.in_place = own.in_place;
  row.type = own.type;
  settle(fields, own.collective, common.collective, "collective", row.collective);
  settle(fields, own.ranks, common.ranks, "ranks", row.ranks);
  settle(fields, own.algorithm, common.algorithm, "algorithm", row.algorithm);
  if (!fields.ok()) { return; }
  check_bandwidth(fields, row, "algbw_gbps", algorithm_bandwidth, 1);
  check_bandwidth(fields, row, "busbw_gbps", row.busbw_gbps, bus_factor(row.collective, row.ranks));
  derive_time(row);
}

}  // namespace

void visit(Fields& fields, MeasurementSettings& settings) {
  fields.optional("backend", settings.backend, "What carried the schedules out: threads, mpi or cuda");
  fields.optional("channels", settings.channels, "Side by side", {1});
  fields.optional("chunk", settings.chunk, "Most payload of one chunk; absent: all in one loop", {Bytes{1}});
  fields.optional("slices", settings.slices, "Messages per chunk", {1});
  fields.optional("slots", settings.slots, "Per connection; absent: as few as the schedule needs", {1});
  fields.optional("group", settings.group, "Ranks per node, as the schedules were told; 0: all");
  fields.optional("dimensions", settings.dimensions, "Of tori and meshes; absent: the algorithm's own", {1});
  fields.optional("rings", settings.rings, "Of multi_ring, at most; absent or 0: its own");
  fields.optional("root", settings.root, "Of collectives that have one");
  fields.optional("reduction", settings.reduction, "sum, product, minimum, maximum or average");
  fields.optional("warm_up", settings.warm_up, "Iterations that were not timed");
  fields.optional("iterations", settings.iterations, "Timed iterations of each row");
}

namespace {

/// Two times of the same thing: nobody knows which one counts.
class Repetitions {
 public:
  void check(Fields& fields, const Measurement::Row& row) {
    if (!row.time_us || !fields.ok()) { return; }
    const auto [first, fresh] = first_.try_emplace(
        {row.collective, row.bytes, row.ranks, row.in_place, row.type, row.algorithm, row.reduction, row.backend},
        *row.time_us);
    if (fresh || first->second == *row.time_us) { return; }
    fields.problem("bytes", "repeated-row",
                   fmt::format("{} stands here a second time with {:g} us, after {:g} us", to_string(row.bytes),
                               *row.time_us, first->second),
                   "keep one of the two, or their median; rows that differ say in what: \"algorithm\", \"ranks\", ...");
  }

 private:
  using Key = std::tuple<CollectiveKind, Bytes, std::uint32_t, bool, std::optional<DataType>, std::string, std::string,
                         std::string>;
  std::map<Key, double> first_;
};

void read_rows(Fields& fields, const Common& common, Measurement& measurement) {
  Repetitions repetitions;
  const auto each = [&](const Common& of_rows) {
    return [&, of_rows](Fields& row) {
      read_row(row, of_rows, measurement.rows.emplace_back());
      repetitions.check(row, measurement.rows.back());
    };
  };
  Common in_place = common;
  in_place.in_place = true;
  fields.required_objects("rows", "One per time", each(common));
  fields.optional_objects("rows_in_place", "Rows that were measured in place", each(in_place));
}

void visit(Fields& fields, Measurement& measurement) {
  Common common;
  fields.required("id", measurement.id, "The file's name without .json");
  fields.required("source", measurement.source, "Who published it, where");
  fields.optional_value("collective", "What was measured; absent: rows say it",
                        [&](FieldValue& value) { read_collective(value, common.collective); });
  fields.required_object("hardware", "The machine", [&](Fields& inner) { read_hardware(inner, measurement, common); });
  fields.required_object("software", "The library", [&](Fields& inner) { read_software(inner, measurement, common); });
  fields.optional("algorithm", common.algorithm, "Of the rows that name none; or \"algo\" of \"software\"");
  fields.optional("ranks", common.ranks, "Of the rows that name none; or of \"hardware\"", {1});
  fields.optional_value("dtype", "Of the elements, as nccl-tests or athanor names it",
                        [&](FieldValue& value) { read_type(value, common.type); });
  fields.optional("in_place", common.in_place, "Input and output of \"rows\" were one buffer");
  fields.optional("healthy", measurement.healthy, "false: the source says that something was not in order");
  fields.optional("url", measurement.url, "Where it was published");
  fields.optional("date", measurement.date, "When");
  fields.optional("kind", measurement.kind, "The program that measured");
  fields.optional("notes", measurement.notes, "What a reader should know");
  fields.optional_object("settings", measurement.settings, "How athanor measured it");
  ignore(fields, {"$schema"});
  read_rows(fields, common, measurement);
  if (measurement.rows.empty()) { return; }
  const Measurement::Row& first = measurement.rows.front();
  measurement.algorithm = common.algorithm.value_or(first.algorithm);
  measurement.collective = common.collective.value_or(first.collective);
  measurement.ranks = common.ranks.value_or(first.ranks);
}

/// One problem instead of a dozen where the file is something else, such as a scenario or a list.
bool is_measurement(const JsonValue& root) {
  return root.is_object() && root.contains("rows") && root["rows"].is_list();
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

Measurement read_measurement(const FileReader& files, const std::string& name, Problems& problems) {
  const Document document = Document::load(files, name);
  Measurement measurement;
  if (!is_measurement(document.root())) {
    problems.add({"not-a-measurement", "this file is not a measurement: it has no list \"rows\"", document.place(""),
                  R"(a measurement holds "id", "source", "collective", "hardware", "software" and "rows" of )"
                  R"({"bytes": 8, "time_us": 38.63})"});
    return measurement;
  }
  read_document(document, problems, [&](Fields& fields) { visit(fields, measurement); });
  return measurement;
}

JsonValue measurement_schema() {
  Measurement measurement;
  auto schema = describe_schema("A measurement of collectives", [&](Fields& fields) { visit(fields, measurement); });
  for (const char* rows : {"rows", "rows_in_place"}) {
    schema["properties"][rows]["items"]["properties"]["time_us"]["type"] = JsonValue::List{"number", "null"};
  }
  return schema;
}

}  // namespace athanor
