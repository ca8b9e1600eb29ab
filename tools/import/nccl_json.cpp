#include "tools/import/nccl_json.hpp"

#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/config/text.hpp"
#include "tools/import/nccl_text.hpp"

namespace athanor {

namespace {

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A number, also where it is written as a string; none for "nan" and what is no number.
std::optional<double> number_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) { return std::nullopt; }
  if (found->is_number()) { return found->get<double>(); }
  return found->is_string() ? number_of(found->get_ref<const std::string&>()) : std::nullopt;
}

/// "NCCL_ALGO=Ring" of a list of such words.
std::string setting(const nlohmann::json& root, const std::string& key) {
  const auto list = root.find("env");
  if (list == root.end() || !list->is_array()) { return "auto"; }
  for (const nlohmann::json& entry : *list) {
    if (entry.is_string() && entry.get_ref<const std::string&>().starts_with(key + "=")) {
      return entry.get<std::string>().substr(key.size() + 1);
    }
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

Devices devices_of(const nlohmann::json& root) {
  Devices devices;
  const auto config = root.find("config");
  if (config == root.end() || !config->is_object()) { return devices; }
  const auto list = config->find("devices");
  if (list == config->end() || !list->is_array()) { return devices; }
  std::set<std::string> hosts;
  for (const nlohmann::json& device : *list) {
    if (!device.is_object()) { continue; }
    ++devices.ranks;
    hosts.insert(text_at(device, "hostname"));
    const std::string model = text_at(device, "device_info");
    if (!model.empty()) { devices.model = model; }
  }
  devices.nodes = std::max<std::int64_t>(1, static_cast<std::int64_t>(hosts.size()));
  return devices;
}

std::optional<CollectiveKind> program_of(const nlohmann::json& root) {
  const auto arguments = root.find("args");
  if (arguments == root.end() || !arguments->is_array() || arguments->empty()) { return std::nullopt; }
  return (*arguments)[0].is_string() ? collective_of_program((*arguments)[0].get_ref<const std::string&>())
                                     : std::nullopt;
}

/// One "out_of_place" or "in_place"; null where that was not measured, or its "nwrong" is no number of results.
std::optional<Measurement::Row> row_of(const nlohmann::json& result, const char* place) {
  const auto values = result.find(place);
  if (values == result.end() || !values->is_object()) { return std::nullopt; }
  Measurement::Row row;
  row.time_us = number_at(*values, "time");
  if (!row.time_us) { row.time_us = number_at(*values, "cpu_time"); }
  row.busbw_gbps = number_at(*values, "bus_bw");
  const double wrong = number_at(*values, "nwrong").value_or(0);
  if (!is_count(wrong)) { return std::nullopt; }
  row.wrong = static_cast<std::uint64_t>(wrong);
  const auto spread = result.find(std::string(place) + "_per_iter");
  if (spread != result.end() && spread->is_object()) { row.min_us = number_at(*spread, "min_us"); }
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
    const nlohmann::json& root = document_.root();
    const auto results = root.find("results");
    if (results == root.end() || !results->is_array() || results->empty()) {
      problem("", "not-a-table", "there are no \"results\" of nccl-tests here", "give the file that -J has written");
      return;
    }
    if (!kind_) { problem("/args", "unknown-collective", "\"args\" does not name the test", "add --collective NAME"); }
    if (ranks() == 0) { problem("/config", "unknown-ranks", "\"config\" lists no devices", "add --ranks N"); }
    if (!kind_ || ranks() == 0 || !rows_.takes(document_.place("/args").line, *kind_)) { return; }
    for (std::size_t i = 0; i < results->size(); ++i) { see((*results)[i], fmt::format("/results/{}", i)); }
    add_facts();
  }

 private:
  std::uint32_t ranks() const { return hints_.ranks.value_or(devices_.ranks); }

  void problem(const std::string& pointer, std::string code, std::string message, std::string hint) {
    rows_.problem(document_.place(pointer).line, std::move(code), std::move(message), std::move(hint));
  }

  void see(const nlohmann::json& result, const std::string& pointer) {
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
      row->type = imported_type(text_at(result, "type"));
      const std::string operation = text_at(result, "redop");
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
    const nlohmann::json& root = document_.root();
    const std::int64_t nodes = hints_.nodes ? std::int64_t{*hints_.nodes} : devices_.nodes;
    const nlohmann::json version = root.value("nccl_version", nlohmann::json("unknown"));
    measurement_.hardware_facts = {{"gpu", hints_.hardware.empty() ? devices_.model : hints_.hardware},
                                   {"nodes", nodes},
                                   {"gpus_per_node", std::max<std::int64_t>(1, ranks() / nodes)}};
    measurement_.software_facts = {{"nccl", version.is_string() ? version.get<std::string>() : text_of(version)},
                                   {"proto", setting(root, "NCCL_PROTO")}};
    measurement_.date = text_at(root, "start_time");
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
