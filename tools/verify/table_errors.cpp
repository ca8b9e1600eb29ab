#include "tools/verify/table_errors.hpp"

#include <algorithm>
#include <filesystem>

#include "models/experiments/table.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

std::optional<std::string> text_fact(const Measurement::Facts& facts, std::string_view key) {
  for (const auto& [name, value] : facts) {
    if (name == key && std::holds_alternative<std::string>(value)) { return std::get<std::string>(value); }
  }
  return {};
}

/// What it simulated: measured tables are of collectives.
const CollectiveSetup& setup_of(const VerifiedCase& verified) {
  return verified.scenario_case->as<CollectiveExperiment>()->setup();
}

std::vector<TablePoint> points_of(const VerifiedCase& verified) {
  const CollectiveSetup& setup = setup_of(verified);
  const std::string algorithm = verified.records.empty() ? "" : verified.records.front().string(kAlgorithm);
  return measured_points(setup.verification->measurement, setup.measured_like(algorithm));
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
  const Measurement& measurement = setup_of(first).verification->measurement;
  TableErrors errors;
  errors.table = measurement.id;
  errors.stack = std::filesystem::path(first.scenario).stem().string();
  errors.library = library_of(measurement);
  errors.algo = measurement.algorithm;
  errors.collective = setup_of(first).kind;
  std::vector<Record> records;
  const KnownChoice known = known_choice(measurement.algorithm);
  for (const VerifiedCase& each : cases) {
    keep_records(each, points_of(each), records, errors.spikes);
    errors.cases.emplace_back(each.scenario, each.scenario_case->name);
    errors.ranks = std::max(errors.ranks, setup_of(each).ranks);
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

}  // namespace athanor
