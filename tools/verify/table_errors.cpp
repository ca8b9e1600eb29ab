#include "tools/verify/table_errors.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

std::optional<std::string> text_fact(const Measurement::Facts& facts, std::string_view key) {
  for (const auto& [name, value] : facts) {
    if (name == key && std::holds_alternative<std::string>(value)) { return std::get<std::string>(value); }
  }
  return {};
}

Reference reference_of(const VerifiedCase& verified) { return *verified.scenario_case->experiment->reference(); }

std::vector<TablePoint> points_of(const VerifiedCase& verified) {
  const Reference reference = reference_of(verified);
  const std::string algorithm = verified.records.empty() ? "" : verified.records.front().string(kAlgorithm);
  Measurement::Wanted rows = reference.rows;
  rows.algorithm = algorithm;
  return measured_points(*reference.table, rows);
}

/// Adds the records of a case that are no spikes.
void keep_records(const VerifiedCase& verified, const std::vector<TablePoint>& points, std::vector<Record>& records,
                  std::vector<Bytes>& spikes) {
  for (const Record& record : verified.records) {
    const Bytes size = size_of(record);
    const bool spike = std::any_of(points.begin(), points.end(),
                                   [&](const TablePoint& point) { return point.size == size && point.spike; });
    if (spike) {
      spikes.push_back(size);
    } else {
      records.push_back(record);
    }
  }
}

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
               {"within_interval", nullptr},
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
  if (table.all.with_interval > 0) {
    json["within_interval"] = static_cast<double>(table.all.inside) / static_cast<double>(table.all.with_interval);
  }
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

std::string library_of(const Measurement& measurement) {
  if (text_fact(measurement.software_facts, "mpi")) { return "MPI"; }
  const auto nccl = text_fact(measurement.software_facts, "nccl");
  if (!nccl) { return "athanor"; }
  return nccl->starts_with("RCCL") ? "RCCL" : "NCCL";
}

namespace {

/// Mean over tables of the share of their rows that lie within their intervals of 80 %, of all sizes and by band, where
/// the median of widths stands beside it; "": none is known.
std::string interval_line(const Tables& tables) {
  const auto mean = [&](const auto& band_of) {
    double sum = 0;
    double count = 0;
    for (const TableErrors& each : tables) {
      const ErrorBand& band = band_of(each);
      if (band.with_interval == 0) { continue; }
      sum += static_cast<double>(band.inside) / static_cast<double>(band.with_interval);
      ++count;
    }
    return std::pair(count == 0 ? 0 : sum / count * 100, count);
  };
  std::size_t rows = 0;
  for (const TableErrors& each : tables) { rows += each.all.with_interval; }
  const auto [share, count] = mean([](const TableErrors& each) -> const ErrorBand& { return each.all; });
  if (count == 0) { return ""; }
  std::string text =
      fmt::format("# within the intervals of 80 %: {:.0f} % of {} rows of {:.0f} tables", share, rows, count);
  constexpr std::array<const char*, 3> kBands{"below 1 MiB", "up to 64 MiB", "above"};
  for (std::size_t band = 0; band < kBands.size(); ++band) {
    std::vector<double> widths;
    for (const TableErrors& each : tables) {
      if (each.bands[band].with_interval > 0) { widths.push_back(each.bands[band].median_width); }
    }
    if (widths.empty()) { continue; }
    std::sort(widths.begin(), widths.end());
    const auto own = mean([band](const TableErrors& each) -> const ErrorBand& { return each.bands[band]; });
    text += fmt::format("{} {} {:.0f} % (width {:.0f} %)", band == 0 ? ";" : ",", kBands.at(band), own.first,
                        widths[widths.size() / 2] * 100);
  }
  return text + "\n";
}

}  // namespace

TableErrors table_errors(const std::vector<VerifiedCase>& cases) {
  require(!cases.empty(), "errors of no case");
  const VerifiedCase& first = cases.front();
  const Reference reference = reference_of(first);
  const Measurement& measurement = *reference.table;
  TableErrors errors;
  errors.table = measurement.id;
  errors.stack = std::filesystem::path(first.scenario).stem().string();
  errors.library = library_of(measurement);
  errors.algo = measurement.algorithm;
  errors.collective = reference.rows.kind;
  std::vector<Record> records;
  const KnownChoice known = known_choice(measurement.algorithm);
  for (const VerifiedCase& each : cases) {
    keep_records(each, points_of(each), records, errors.spikes);
    errors.cases.emplace_back(each.scenario, each.scenario_case->name);
    errors.ranks = std::max(errors.ranks, reference_of(each).rows.ranks);
    for (const Record& record : each.records) {
      errors.extrapolated = errors.extrapolated || record.find(kExtrapolated)->boolean();
    }
    if (!known.algorithms.empty() && !each.records.empty()) {
      errors.agreed = errors.agreed.value_or(true) && agrees(known, each.records);
    }
  }
  errors.bands = error_bands(records);
  errors.all = error_band(records, Bytes::zero(), Bytes::max());
  const std::vector<TablePoint> points = points_of(first);
  for (const ErrorBand& band : errors.bands) { errors.band_noise.push_back(noise(points, band.from, band.below)); }
  errors.table_noise = noise(points);
  errors.choices = choices_by_size(first.records);
  return errors;
}

std::optional<double> median_error(const std::vector<TableErrors>& tables, std::size_t band) {
  std::vector<double> means;
  for (const TableErrors& table : tables) {
    if (table.bands[band].points > 0) { means.push_back(table.bands[band].mean); }
  }
  if (means.empty()) { return {}; }
  std::sort(means.begin(), means.end());
  return (means[(means.size() - 1) / 2] + means[means.size() / 2]) / 2;
}

std::string table_error_lines(const Tables& tables) {
  std::string text = header_line();
  for (const std::string& library : libraries(tables)) {
    for (const TableErrors& table : filtered(tables, false, library)) { text += line_of(table); }
  }
  for (const std::string& library : libraries(tables)) {
    text += median_line(filtered(tables, false, library), library + " table");
  }
  text += median_line(filtered(tables, false), "table");
  text += interval_line(filtered(tables, false));
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
