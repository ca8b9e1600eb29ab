#include "tools/calibrate/tables/stack_profile.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

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
  return {listed(measurements), listed(collectives), listed(ranks), listed(gpus), listed(nodes), from, to};
}

/// By band, from the smallest sizes on; null where a table has none.
Json bands_json(const BandErrors& errors) {
  Json json = Json::list();
  for (std::size_t i = 0; i < errors.mean.size(); ++i) {
    json.push_back(errors.points.at(i) == 0 ? Json() : Json(rounded(errors.mean.at(i))));
  }
  return json;
}

Json errors_json(const std::vector<HoldOut>& errors) {
  Json json = Json::object();
  for (const HoldOut& each : errors) { json[each.table] = bands_json(each.errors); }
  return json;
}

}  // namespace

Json stack_profile(const StackFit& fit, const Tables& tables, const HoldOuts& hold_outs, const StackNote& note) {
  Json calibration{{"date", note.date}, {"versions", note.versions}, {"free", fit.free}, {"at_bound", fit.at_bound}};
  calibration["fit"] = errors_json(hold_outs.fitted);
  if (!hold_outs.sizes.empty()) { calibration["hold_out_sizes"] = errors_json(hold_outs.sizes); }
  if (!hold_outs.tables.empty()) { calibration["hold_out_tables"] = errors_json(hold_outs.tables); }
  if (!hold_outs.anchors.empty()) { calibration["hold_out_but_anchors"] = errors_json(hold_outs.anchors); }
  Profile profile;
  profile.name = note.name;
  profile.description = note.description;
  profile.source = note.source;
  profile.launch = fit.profile.launch;
  profile.nccl = fit.profile.nccl;
  profile.fitted = domain_of(tables);
  return profile_json(in_four_digits(std::move(profile)), std::move(calibration));
}

}  // namespace athanor
