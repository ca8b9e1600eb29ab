#include "models/engines/engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/engines/catalog.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

EngineModel ideal_engine() {
  EngineModel engine;
  engine.name = "ideal";
  engine.summary =
      "every switch adds up and multicasts at line rate, without limits: what an engine could bring at best";
  engine.modes.emplace_back().name = "aggregation";
  engine.modes.back().slots = 4096;
  engine.source = "none: a bound";
  return engine;
}

template <class List, class Value>
bool holds(const List& list, const Value& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::span<const EngineModel> engine_catalog() {
  static const std::vector<EngineModel> engines{
      ideal_engine(),     sharp_v1_engine(), sharp_v2_engine(),    sharp_v3_engine(), sharp_v4_engine(),
      netreduce_engine(), panama_engine(),   roar_engine(),        switchml_engine(), atp_engine(),
      naca_engine(),      nvls_engine(),     nic_offload_engine(),
  };
  return engines;
}

Protocol packet_mode(std::string name, const AggregatorSettings& pool, Time latency) {
  Protocol mode;
  mode.name = std::move(name);
  mode.chunk = pool.payload;
  mode.slots = pool.slots;
  mode.aggregation.payload = {pool.payload.count(), (pool.payload + pool.header).count()};
  mode.aggregation.latency = latency;
  mode.aggregation.outstanding = pool.slots;
  return mode;
}

bool is_in_switches(const EngineModel& engine) {
  return engine.limits.place == EnginePlace::every_switch || engine.limits.place == EnginePlace::leaf;
}

const EngineModel& find_engine(std::string_view name) {
  std::vector<std::string> names;
  for (const EngineModel& engine : engine_catalog()) {
    if (engine.name == name) { return engine; }
    names.push_back(engine.name);
  }
  const std::string near = nearest(std::string(name), names);
  const std::string hint =
      fmt::format("{}there are {}", near.empty() ? "" : fmt::format("did you mean '{}'? ", near), joined(names, ", "));
  throw ScenarioError(Problem{"unknown-engine", fmt::format("there is no engine '{}'", name), {}, hint});
}

std::optional<std::string> refuses(const EngineModel& engine, CollectiveKind kind, DataType type, Reduction reduction,
                                   Bytes operation) {
  const EngineLimits& limits = engine.limits;
  if (operation > limits.message) {
    return fmt::format(R"(an operation of {} bytes, and {} takes {} at most; "chunk" cuts it)", operation.count(),
                       engine.name, limits.message.count());
  }
  if (!reduces(kind)) { return {}; }
  if (!holds(limits.types, type)) {
    std::vector<std::string_view> names;
    for (const DataType known : limits.types) { names.push_back(name(known)); }
    return fmt::format("{} does not add {}: only {}", engine.name, name(type), joined(names, ", "));
  }
  const auto& summed = engine.only_summed;
  if (reduction != Reduction::sum && std::find(summed.begin(), summed.end(), type) != summed.end()) {
    return fmt::format("{} reduces {} by sum alone, not by {}", engine.name, name(type), name(reduction));
  }
  if (!holds(limits.reductions, reduction)) {
    std::vector<std::string_view> names;
    for (const Reduction known : limits.reductions) { names.push_back(name(known)); }
    return fmt::format("{} does not reduce by {}: only by {}", engine.name, name(reduction), joined(names, ", "));
  }
  return {};
}

std::span<const std::string> aggregating_algorithms() {
  static const std::vector<std::string> names{"aggregation_tree", "nvls_sharp", "collnet_direct", "collnet_chain"};
  return names;
}

std::vector<Protocol> engine_protocols(const EngineModel& engine, const Profile& profile) {
  const auto names = aggregating_algorithms();
  const auto aggregates = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<Protocol> protocols;
  for (const Protocol& protocol : profile.protocols) {
    if (std::any_of(protocol.algorithms.begin(), protocol.algorithms.end(), aggregates)) {
      protocols.push_back(protocol);
    }
  }
  if (!protocols.empty()) { return protocols; }
  const Protocol& host = profile.protocols.front();
  for (Protocol protocol : engine.modes) {
    protocol.algorithms.assign(names.begin(), names.end());
    protocol.start += host.start;
    protocol.overhead = engine.slots ? Time::zero() : host.overhead;  // cores of their own keep up with packets
    protocol.node = host.node;
    protocol.engine = host.engine;
    protocol.network = host.network;
    protocol.engine_grain = host.engine_grain;
    protocol.payload = host.payload;
    protocol.send_end = SendEnd::injected;  // messages follow each other on the wire
    protocol.aggregation.host_latency = host.network.latency / 2;
    protocols.push_back(std::move(protocol));
  }
  return protocols;
}

namespace {

Bytes of_all(Bytes operation, std::uint32_t operations) {
  return operation > Bytes::max() / operations ? Bytes::max() : operation * operations;
}

Protocol driven(const Protocol& library, const Protocol& mode, std::uint32_t operations) {
  Protocol protocol = library;
  protocol.start += mode.start;
  protocol.from = std::max(library.from, of_all(mode.from, operations));
  protocol.to = std::min(library.to, of_all(mode.to, operations));
  if (!mode.aggregation.streaming && mode.chunk != Bytes::max()) {
    Elements& chunk = protocol.library->of_bytes.chunk;
    chunk = std::min(chunk, Elements{mode.chunk.count()});
  }
  protocol.aggregation = mode.aggregation;
  protocol.aggregation.host_latency = library.network.latency / 2;
  protocol.aggregation.rate = std::min(mode.aggregation.rate, library.network.rate);
  return protocol;
}

}  // namespace

std::vector<Protocol> engine_protocols(const EngineModel& engine, const std::vector<Protocol>& library,
                                       std::uint32_t operations) {
  std::vector<Protocol> protocols;
  for (const Protocol& own : library) {
    for (const Protocol& mode : engine.modes) { protocols.push_back(driven(own, mode, operations)); }
  }
  return protocols;
}

Profile offloaded(Profile profile, const NicOffload& offload) {
  profile.launch = offload.post;
  if (offload.reduce_rate) { profile.reduce_rate = *offload.reduce_rate; }
  for (Protocol& protocol : profile.protocols) {
    if (offload.overhead) { protocol.overhead = *offload.overhead; }
  }
  return profile;
}

Overlap overlap(Time collective, Time compute, const std::optional<NicOffload>& offload) {
  Overlap result;
  result.total = offload ? std::max(collective, offload->post + compute) : collective + compute;
  result.communicating = offload ? std::min(offload->post, collective) : collective;
  if (collective > Time::zero()) {
    result.share = std::clamp(1 - seconds(result.total - compute) / seconds(collective), 0.0, 1.0);
  }
  return result;
}

}  // namespace athanor
