#include <algorithm>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/format.hpp"
#include "tools/verify/table_errors.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using Tables = std::vector<TableErrors>;

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.1f} %", *share * 100) : "-"; }

std::string line_of(const TableErrors& table) {
  std::string line = fmt::format("{:<44} {:>5}  {:<14}", table.table, table.ranks, name(table.collective));
  for (const ErrorBand& band : table.bands) {
    line += fmt::format(" {:>9}", percent(band.points == 0 ? std::nullopt : std::optional(band.mean)));
  }
  const auto& worst = table.all.worst;
  line += worst ? fmt::format(" {:>+9.1f} % at {:<8}", worst->number(kError) * 100, to_string(size_of(*worst)))
                : fmt::format(" {:>23}", "-");
  const std::string known = !table.agreed ? "unknown" : *table.agreed ? "as measured" : "another";
  return line +
         fmt::format(" {:>6} {:>7}  {:<11} {}\n", table.spikes.size(), percent(table.table_noise), known, table.stack);
}

std::string header_line() {
  return fmt::format("#{:<43} {:>5}  {:<14} {:>9} {:>9} {:>9} {:>22} {:>6} {:>7}  {:<11} {}\n",
                     " mean |error| of the time", "ranks", "collective", "< 1 MiB", "< 64 MiB", "above", "worst",
                     "spikes", "noise", "algorithm", "stack");
}

Tables filtered(const Tables& tables, bool noisy, const std::string& library = "") {
  Tables kept;
  std::copy_if(tables.begin(), tables.end(), std::back_inserter(kept), [&](const TableErrors& table) {
    return table.noisy() == noisy && (library.empty() || table.library == library);
  });
  return kept;
}

/// In the order in which they come.
std::vector<std::string> libraries(const Tables& tables) {
  std::vector<std::string> names;
  for (const TableErrors& table : tables) {
    if (std::find(names.begin(), names.end(), table.library) == names.end()) { names.push_back(table.library); }
  }
  return names;
}

std::string median_line(const Tables& tables, const std::string& of) {
  if (tables.empty()) { return ""; }
  std::string line =
      fmt::format("# {:<64}", fmt::format("median over {} {}{}", tables.size(), of, tables.size() == 1 ? "" : "s"));
  for (std::size_t band = 0; band < tables.front().bands.size(); ++band) {
    line += fmt::format(" {:>9}", percent(median_error(tables, band)));
  }
  return line + "\n";
}

Json to_json(const ErrorBand& band, std::optional<double> noise) {
  Json json = {{"from", band.from.count()}, {"below", nullptr}, {"points", band.points}, {"mean_error", nullptr}};
  if (band.below != Bytes::max()) { json["below"] = band.below.count(); }
  if (band.points > 0) { json["mean_error"] = band.mean; }
  json["noise"] = noise ? Json(*noise) : Json(nullptr);
  return json;
}

Json to_json(const TableErrors& table) {
  Json json = {{"table", table.table},
               {"stack", table.stack},
               {"library", table.library},
               {"algo", table.algo},
               {"collective", name(table.collective)},
               {"ranks", table.ranks},
               {"bands", Json::list()},
               {"worst_error", nullptr},
               {"worst_bytes", nullptr},
               {"spikes", Json::list()},
               {"noise", nullptr},
               {"noisy", table.noisy()},
               {"agreed", nullptr},
               {"choices", table.choices},
               {"extrapolated", table.extrapolated},
               {"cases", Json::list()}};
  for (const auto& [scenario, name] : table.cases) {
    json["cases"].push_back({{"scenario", scenario}, {"case", name}});
  }
  for (std::size_t b = 0; b < table.bands.size(); ++b) {
    json["bands"].push_back(to_json(table.bands[b], table.band_noise[b]));
  }
  if (table.all.worst) {
    json["worst_error"] = table.all.worst->number(kError);
    json["worst_bytes"] = size_of(*table.all.worst).count();
  }
  for (const Bytes size : table.spikes) { json["spikes"].push_back(size.count()); }
  if (table.table_noise) { json["noise"] = *table.table_noise; }
  if (table.agreed) { json["agreed"] = *table.agreed; }
  return json;
}

Json median_json(const Tables& tables, const std::string& library) {
  Json json = {{"library", library}, {"tables", tables.size()}, {"mean_error", Json::list()}};
  for (std::size_t band = 0; band < tables.front().bands.size(); ++band) {
    const auto median = median_error(tables, band);
    json["mean_error"].push_back(median ? Json(*median) : Json(nullptr));
  }
  return json;
}

}  // namespace

std::string table_error_lines(const Tables& tables) {
  std::string text = header_line();
  for (const std::string& library : libraries(tables)) {
    for (const TableErrors& table : filtered(tables, false, library)) { text += line_of(table); }
  }
  for (const std::string& library : libraries(tables)) {
    text += median_line(filtered(tables, false, library), library + " table");
  }
  text += median_line(filtered(tables, false), "table");
  const Tables noisy = filtered(tables, true);
  if (noisy.empty()) { return text; }
  text += fmt::format("# noisy (above {:.0f} %), in no median:\n", kNoisy * 100);
  for (const TableErrors& table : noisy) { text += line_of(table); }
  return text;
}

std::vector<std::pair<std::string, std::vector<JsonValue>>> table_error_json(const Tables& tables) {
  std::vector<JsonValue> errors;
  for (const TableErrors& table : tables) { errors.push_back(to_json(table)); }
  std::vector<JsonValue> medians;
  for (const std::string& library : libraries(tables)) {
    const Tables quiet = filtered(tables, false, library);
    if (!quiet.empty()) { medians.push_back(median_json(quiet, library)); }
  }
  const Tables quiet = filtered(tables, false);
  if (!quiet.empty()) { medians.push_back(median_json(quiet, "all")); }
  return {{"tables", errors}, {"medians", medians}};
}

}  // namespace athanor
