#include "tools/import/nccl_json.hpp"

#include <cmath>
#include <set>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/import/nccl_text.hpp"

namespace athanor {

namespace {

/// A number, also where it is written as a string; none for "nan" and what is no number.
std::optional<double> number_at(const JsonValue& object, const char* key) {
  const JsonValue* found = object.find(key);
  if (found == nullptr) { return std::nullopt; }
  if (found->is_number()) { return found->number(); }
  return found->is_string() ? number_of(found->string()) : std::nullopt;
}

/// "NCCL_ALGO=Ring" of a list of such words.
std::string setting(const JsonValue& root, const std::string& key) {
  const JsonValue* list = root.find("env");
  if (list == nullptr || !list->is_list()) { return "auto"; }
  for (const JsonValue& entry : list->elements()) {
    if (entry.is_string() && entry.string().starts_with(key + "=")) { return entry.string().substr(key.size() + 1); }
  }
  return "auto";
}

/// A whole number that is no size, rank or count of anything where it is larger.
constexpr double kMostCounted = 1e18;

bool is_count(double number) { return number >= 0 && number <= kMostCounted && number == std::floor(number); }

struct Devices {
  std::uint32_t ranks = 0;
  std::int64_t nodes = 1;
  std::string model = "unknown";
};

Devices devices_of(const JsonValue& root) {
  Devices devices;
  const JsonValue* config = root.find("config");
  if (config == nullptr || !config->is_object()) { return devices; }
  const JsonValue* list = config->find("devices");
  if (list == nullptr || !list->is_list()) { return devices; }
  std::set<std::string> hosts;
  for (const JsonValue& device : list->elements()) {
    if (!device.is_object()) { continue; }
    ++devices.ranks;
    hosts.insert(device.string_at("hostname"));
    const std::string model = device.string_at("device_info");
    if (!model.empty()) { devices.model = model; }
  }
  devices.nodes = std::max<std::int64_t>(1, static_cast<std::int64_t>(hosts.size()));
  return devices;
}

std::optional<CollectiveKind> program_of(const JsonValue& root) {
  const JsonValue* arguments = root.find("args");
  if (arguments == nullptr || !arguments->is_list() || arguments->empty()) { return std::nullopt; }
  return arguments->elements()[0].is_string() ? collective_of_program(arguments->elements()[0].string()) : std::nullopt;
}

/// One "out_of_place" or "in_place"; null where that was not measured, or its "nwrong" is no number of results.
std::optional<Measurement::Row> row_of(const JsonValue& result, const char* place) {
  const JsonValue* values = result.find(place);
  if (values == nullptr || !values->is_object()) { return std::nullopt; }
  Measurement::Row row;
  row.time_us = number_at(*values, "time");
  if (!row.time_us) { row.time_us = number_at(*values, "cpu_time"); }
  row.busbw_gbps = number_at(*values, "bus_bw");
  const double wrong = number_at(*values, "nwrong").value_or(0);
  if (!is_count(wrong)) { return std::nullopt; }
  row.wrong = static_cast<std::uint64_t>(wrong);
  const JsonValue* spread = result.find(std::string(place) + "_per_iter");
  if (spread != nullptr && spread->is_object()) { row.min_us = number_at(*spread, "min_us"); }
  return row;
}

class NcclJson {
 public:
  NcclJson(const Document& document, const ImportHints& hints, Measurement& measurement, Problems& problems)
      : document_(document),
        hints_(hints),
        measurement_(measurement),
        rows_(document.file(), measurement, problems),
        devices_(devices_of(document.root())),
        kind_(hints.collective ? hints.collective : program_of(document.root())) {}

  void read() {
    const JsonValue& root = document_.root();
    const JsonValue* results = root.find("results");
    if (results == nullptr || !results->is_list() || results->empty()) {
      problem("", "not-a-table", "there are no \"results\" of nccl-tests here", "give the file that -J has written");
      return;
    }
    if (!kind_) { problem("/args", "unknown-collective", "\"args\" does not name the test", "add --collective NAME"); }
    if (ranks() == 0) { problem("/config", "unknown-ranks", "\"config\" lists no devices", "add --ranks N"); }
    if (!kind_ || ranks() == 0 || !rows_.takes(document_.place("/args").line, *kind_)) { return; }
    for (std::size_t i = 0; i < results->size(); ++i) { see(results->elements()[i], fmt::format("/results/{}", i)); }
    add_facts();
  }

 private:
  std::uint32_t ranks() const { return hints_.ranks.value_or(devices_.ranks); }

  void problem(const std::string& pointer, std::string code, std::string message, std::string hint) {
    rows_.problem(document_.place(pointer).line, std::move(code), std::move(message), std::move(hint));
  }

  void see(const JsonValue& result, const std::string& pointer) {
    const auto bytes = result.is_object() ? number_at(result, "size") : std::nullopt;
    if (!bytes || !is_count(*bytes)) {
      problem(pointer, "truncated-row", "this result has no \"size\", a whole number of bytes",
              "complete the result or remove it");
      return;
    }
    bool any = false;
    for (const bool in_place : {false, true}) {
      auto row = row_of(result, in_place ? "in_place" : "out_of_place");
      if (!row) { continue; }
      any = true;
      row->bytes = Bytes{static_cast<std::int64_t>(*bytes)};
      row->ranks = ranks();
      row->collective = *kind_;
      row->in_place = in_place;
      row->type = imported_type(result.string_at("type"));
      const std::string operation = result.string_at("redop");
      if (reduces(*kind_) && operation != "sum") { row->reduction = operation; }
      rows_.add(document_.place(pointer).line, std::move(*row));
    }
    if (!any) {
      problem(pointer, "truncated-row",
              "this result has neither \"out_of_place\" nor \"in_place\" with a count in \"nwrong\"",
              "complete the result or remove it");
    }
  }

  void add_facts() {
    const JsonValue& root = document_.root();
    const std::int64_t nodes = hints_.nodes ? std::int64_t{*hints_.nodes} : devices_.nodes;
    const JsonValue* found = root.find("nccl_version");
    const JsonValue version = found == nullptr ? JsonValue("unknown") : *found;
    measurement_.hardware_facts = {{"gpu", hints_.hardware.empty() ? devices_.model : hints_.hardware},
                                   {"nodes", nodes},
                                   {"gpus_per_node", std::max<std::int64_t>(1, ranks() / nodes)}};
    measurement_.software_facts = {{"nccl", version.is_string() ? version.string() : text_of(version)},
                                   {"proto", setting(root, "NCCL_PROTO")}};
    measurement_.date = root.string_at("start_time");
    const std::string algorithm = setting(root, "NCCL_ALGO");
    for (Measurement::Row& row : measurement_.rows) { row.algorithm = algorithm; }
  }

  const Document& document_;
  const ImportHints& hints_;
  Measurement& measurement_;
  ImportedRows rows_;
  Devices devices_;
  std::optional<CollectiveKind> kind_;
};

}  // namespace

void import_nccl_json(const Document& document, const ImportHints& hints, Measurement& measurement,
                      Problems& problems) {
  NcclJson(document, hints, measurement, problems).read();
}

}  // namespace athanor
