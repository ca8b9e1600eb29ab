#include "tools/calibrate/pool/stack_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/calibration_json.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// Four digits are more than a fit finds.
Profile in_four_digits(Profile profile) {
  constexpr std::int64_t kParts = 10'000;
  NcclCosts& costs = *profile.nccl;
  for (Ratio* ratio :
       {&costs.tree_share, &costs.idle, &costs.nvls_efficiency, &costs.node_efficiency, &costs.network_efficiency}) {
    *ratio = {std::llround(to_double(*ratio) * static_cast<double>(kParts)), kParts};
  }
  return profile;
}

template <class T>
std::vector<T> listed(const std::set<T>& values) {
  return {values.begin(), values.end()};
}

/// By band, from the smallest sizes on; null where a table has none.
Json bands_json(const BandErrors& errors) {
  Json json = Json::list();
  for (std::size_t i = 0; i < errors.mean.size(); ++i) {
    json.push_back(errors.points.at(i) == 0 ? Json() : Json(rounded(errors.mean.at(i))));
  }
  return json;
}

}  // namespace

Profile::Domain domain_of(const Tables& tables) {
  std::set<std::string> measurements;
  std::set<std::string> collectives;
  std::set<std::uint32_t> ranks;
  std::set<std::string> gpus;
  std::set<std::uint32_t> nodes;
  Bytes from = Bytes::max();
  Bytes to;
  for (const TableRow& row : tables.rows) {
    const auto& [platform, setup] = tables.cases[row.in_case];
    measurements.insert(tables.name(row));
    collectives.insert(std::string(name(setup.kind)));
    ranks.insert(setup.ranks);
    if (const std::string gpu = gpu_name(*platform.cluster); !gpu.empty()) { gpus.insert(gpu); }
    nodes.insert(nodes_of(*platform.cluster, setup.ranks));
    from = std::min(from, row.size);
    to = std::max(to, row.size);
  }
  constexpr std::size_t kFew = 5;
  const auto few = static_cast<std::uint32_t>(tables.rows.size() < kFew ? tables.rows.size() : 0);
  Profile::Domain domain{
      listed(measurements), listed(collectives), listed(ranks), listed(gpus), listed(nodes), from, to, few};
  if (few > 0) {
    for (const TableRow& row : tables.rows) { domain.sizes.push_back(row.size); }
  }
  return domain;
}

Json errors_json(const std::vector<TableError>& errors) {
  Json json = Json::object();
  for (const TableError& each : errors) {
    const auto& points = each.errors.points;
    if (std::count(points.begin(), points.end(), 0U) < std::ssize(points)) {
      json[each.table] = bands_json(each.errors);
    }
  }
  return json;
}

Json kinds_json(const Tables& tables) {
  Json json = Json::object();
  for (const TableRow& row : tables.rows) {
    const auto& [platform, setup] = tables.cases[row.in_case];
    json[tables.name(row)] = {{"collective", name(setup.kind)}, {"nodes", nodes_of(*platform.cluster, setup.ranks)}};
  }
  return json;
}

std::string_view name(HeldOut what) {
  constexpr std::array<std::string_view, kHeldOuts> kNames{
      "fit", "hold_out_sizes", "hold_out_tables", "hold_out_stack", "hold_out_but_two", "hold_out_collective"};
  return kNames.at(static_cast<std::size_t>(what));
}

std::vector<TableError> errors_by_table(const Tables& tables, const std::vector<double>& residuals) {
  std::map<std::size_t, std::vector<TableRow>> by_table;
  for (std::size_t i = 0; i < tables.rows.size(); ++i) {
    if (std::isnan(residuals[i])) { continue; }
    TableRow row = tables.rows[i];
    row.simulated_us = row.measured_us * std::exp(residuals[i]);
    by_table[row.table].push_back(std::move(row));
  }
  std::vector<TableError> result;
  for (const auto& [table, rows] : by_table) { result.push_back({tables.name(rows.front()), band_errors(rows)}); }
  return result;
}

Json stack_profile(Profile profile, const Tables& stack, const HeldOutResiduals& residuals, const StackNote& note) {
  Json calibration{{"date", note.date}, {"versions", note.versions}, {"tables", kinds_json(stack)}};
  for (std::size_t what = 0; what < kHeldOuts; ++what) {
    if (residuals.at(what).empty()) { continue; }
    const Json errors = errors_json(errors_by_table(stack, residuals.at(what)));
    if (errors.size() > 0) { calibration[std::string(name(static_cast<HeldOut>(what)))] = errors; }
  }
  profile.fitted = domain_of(stack);
  profile.name = note.name;
  const std::size_t tables = profile.fitted.measurements.size();
  profile.description = fmt::format("{} as it was measured in {} table{}", profile.nccl->rccl ? "RCCL" : "NCCL", tables,
                                    tables == 1 ? "" : "s");
  profile.source = note.source;
  return profile_json(in_four_digits(std::move(profile)), std::move(calibration));
}

}  // namespace athanor
