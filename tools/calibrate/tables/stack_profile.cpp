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

std::string_view name(NcclChoosing choosing) {
  switch (choosing) {
    case NcclChoosing::tuner: return "tuner";
    case NcclChoosing::algorithm: return "algorithm";
    case NcclChoosing::fastest: break;
  }
  return "fastest";
}

template <class Unit>
void put(Json& json, const char* key, Quantity<Unit> quantity, Quantity<Unit> absent) {
  if (quantity != absent) { json[key] = written(quantity); }
}

void put(Json& json, const char* key, Ratio ratio, Ratio absent) {
  if (ratio != absent) { json[key] = rounded(to_double(ratio)); }
}

Json protocol_json(const NcclProtocolCosts& costs) {
  Json json = Json::object();
  put(json, "step", costs.step, Time::zero());
  put(json, "latency", costs.node_latency, Time::zero());
  put(json, "rate", costs.rate, Bandwidth::max());
  put(json, "network_latency", costs.network_latency, Time::zero());
  put(json, "network_rate", costs.network_rate, Bandwidth::max());
  return json;
}

Json nccl_json(const NcclCosts& costs) {
  const NcclCosts usual;
  Json json{{"version", to_string(costs.version)}};
  if (costs.rccl) { json["rccl"] = true; }
  json["choose"] = name(costs.choosing);
  for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    Json one = protocol_json(costs.of(protocol));
    if (!one.empty()) { json[std::string(name(protocol))] = std::move(one); }
  }
  put(json, "tree_share", costs.tree_share, usual.tree_share);
  put(json, "idle", costs.idle, usual.idle);
  put(json, "nvls_start", costs.nvls_start, Time::zero());
  put(json, "nvls_loop", costs.nvls_loop, Time::zero());
  put(json, "network_spread", costs.network_spread, Time::zero());
  put(json, "peer_start", costs.peer_start, Time::zero());
  put(json, "nvls_efficiency", costs.nvls_efficiency, usual.nvls_efficiency);
  put(json, "node_efficiency", costs.node_efficiency, usual.node_efficiency);
  put(json, "network_efficiency", costs.network_efficiency, usual.network_efficiency);
  put(json, "host_launch", costs.host_launch, Time::zero());
  put(json, "host_channel", costs.host_channel, Time::zero());
  return json;
}

template <class T>
std::vector<T> listed(const std::set<T>& values) {
  return {values.begin(), values.end()};
}

Json domain_json(const Tables& tables) {
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
  Json json{{"measurements", listed(measurements)}, {"collectives", listed(collectives)}, {"ranks", listed(ranks)}};
  if (!gpus.empty()) { json["gpus"] = listed(gpus); }
  json["nodes"] = listed(nodes);
  json["from"] = written(from);
  json["to"] = written(to);
  return json;
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
  return {{"name", note.name},
          {"description", note.description},
          {"source", note.source},
          {"launch", written(fit.profile.launch)},
          {"nccl", nccl_json(*fit.profile.nccl)},
          {"fitted", domain_json(tables)},
          {"calibration", std::move(calibration)}};
}

}  // namespace athanor
