#include "tools/verify/table_errors.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::optional<std::string> text_fact(const Measurement::Facts& facts, std::string_view key) {
  for (const auto& [name, value] : facts) {
    if (name == key && std::holds_alternative<std::string>(value)) { return std::get<std::string>(value); }
  }
  return {};
}

std::vector<TablePoint> points_of(const VerifiedCase& verified) {
  const Case& held = *verified.scenario_case;
  const std::string algorithm = verified.rows.empty() ? "" : verified.rows.front().run.algorithm;
  return measured_points(held.verification->measurement, measured_like(held, algorithm));
}

/// Adds the rows of a case that are no spikes.
void keep_rows(const VerifiedCase& verified, const std::vector<TablePoint>& points, std::vector<ResultRow>& rows,
               std::vector<Bytes>& spikes) {
  for (const ResultRow& row : verified.rows) {
    const bool spike = std::any_of(points.begin(), points.end(),
                                   [&](const TablePoint& point) { return point.size == row.run.size && point.spike; });
    if (spike) {
      spikes.push_back(row.run.size);
    } else {
      rows.push_back(row);
    }
  }
}

}  // namespace

std::string library_of(const Measurement& measurement) {
  if (text_fact(measurement.software_facts, "mpi")) { return "MPI"; }
  const auto nccl = text_fact(measurement.software_facts, "nccl");
  if (!nccl) { return "athanor"; }
  return nccl->starts_with("RCCL") ? "RCCL" : "NCCL";
}

TableErrors table_errors(const std::vector<VerifiedCase>& cases) {
  require(!cases.empty(), "errors of no case");
  const VerifiedCase& first = cases.front();
  const Measurement& measurement = first.scenario_case->verification->measurement;
  TableErrors errors;
  errors.table = measurement.id;
  errors.stack = std::filesystem::path(first.scenario).stem().string();
  errors.library = library_of(measurement);
  errors.algo = measurement.algorithm;
  errors.collective = first.scenario_case->kind;
  std::vector<ResultRow> rows;
  const KnownChoice known = known_choice(measurement.algorithm);
  for (const VerifiedCase& each : cases) {
    keep_rows(each, points_of(each), rows, errors.spikes);
    errors.cases.emplace_back(each.scenario, each.scenario_case->name);
    errors.ranks = std::max(errors.ranks, each.scenario_case->ranks);
    for (const ResultRow& row : each.rows) { errors.extrapolated = errors.extrapolated || row.run.extrapolated; }
    if (!known.algorithms.empty() && !each.rows.empty()) {
      errors.agreed = errors.agreed.value_or(true) && agrees(known, each.rows);
    }
  }
  errors.bands = error_bands(rows);
  errors.all = error_band(rows, Bytes::zero(), Bytes::max());
  const std::vector<TablePoint> points = points_of(first);
  for (const ErrorBand& band : errors.bands) { errors.band_noise.push_back(noise(points, band.from, band.below)); }
  errors.table_noise = noise(points);
  errors.choices = choices_by_size(first.rows);
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

}  // namespace athanor
