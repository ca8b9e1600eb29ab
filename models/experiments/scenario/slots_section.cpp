#include "models/experiments/scenario/slots_section.hpp"

#include <array>

#include <fmt/core.h>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::array kKeys{"slots", "loss", "timeout", "window", "payload", "header", "servers"};
constexpr std::uint32_t kMost = 1U << 20U;

void read_keys(Fields& fields, SlotsSection& section) {
  fields.optional("slots", section.slots, "switchml and atp: packets that a switch adds up at a time; absent: 512",
                  {.most = kMost});
  fields.optional("loss", section.loss,
                  "The same: probability that a packet is lost, on each way between two that handle it; absent: 0");
  fields.optional("timeout", section.timeout,
                  "The same: after which a worker sends a packet again; above the round trip; absent: 1 ms", {Time{1}});
  fields.optional("window", section.window,
                  "The same: most packets that a worker has under way; absent: as many as its job has slots",
                  {1, kMost});
  fields.optional("payload", section.payload, "The same: of a packet; absent: the engine's", {Bytes{1}, Bytes{kMost}});
  fields.optional("header", section.header, "The same: of a packet on the wire, beside the payload",
                  {.most = Bytes{kMost}});
  fields.optional_value("servers",
                        "atp: numbers of the endpoints with the parameter servers, one for each job; absent: those "
                        "behind all ranks",
                        [&](FieldValue& value) { value.visit(section.servers.emplace()); });
}

void check_values(Fields& fields, const SlotsSection& section, AggregatorPolicy policy) {
  if (section.loss && *section.loss >= Ratio{1, 1}) {
    fields.problem("loss", "out-of-range", "a loss of 1 leaves nothing to arrive", "it is at least 0 and below 1");
  }
  const bool shared = policy == AggregatorPolicy::best_effort;
  if (section.servers && !shared) {
    fields.problem("servers", "conflict", "switchml has no parameter servers", "leave it out, or take atp");
  }
  if (section.slots != 0U) { return; }
  if (!shared) {
    fields.problem("slots", "out-of-range", "without slots a switch adds nothing up", "give it 1 or more");
  } else if (!section.window) {
    fields.problem("slots", "missing-key", "a parameter server alone leaves the window open", R"(add "window": 512)");
  }
}

void check_kind(const SlotsSection& section, const SlotUsers& users, std::string_view engine, Problems& problems) {
  if (users.kind != CollectiveKind::all_reduce) {
    problems.add(
        {"conflict",
         fmt::format("{} adds up packet by packet for all_reduce alone, and this is {}", engine, name(users.kind)),
         section.place, fmt::format("leave \"{}\" out: a schedule without losses runs then", section.first)});
  }
}

void place_servers(const SlotsSection& section, const Cluster& cluster, const SlotUsers& users,
                   std::vector<VertexId>& servers, Problems& problems) {
  const std::uint64_t ranks = std::uint64_t{users.ranks} * users.jobs;
  const std::vector<VertexId>& endpoints = cluster.endpoints;
  if (!section.servers) {
    if (ranks + users.jobs > endpoints.size()) { return; }
    const auto first = endpoints.begin() + static_cast<std::ptrdiff_t>(ranks);
    servers.assign(first, first + users.jobs);
    return;
  }
  if (section.servers->size() != users.jobs) {
    problems.add(
        {"out-of-range",
         fmt::format("{} servers for {} {}", section.servers->size(), users.jobs, users.jobs == 1 ? "job" : "jobs"),
         section.servers_place, "each job has one"});
    return;
  }
  for (const std::uint32_t number : *section.servers) {
    if (number >= ranks && number < endpoints.size()) {
      servers.push_back(endpoints[number]);
      continue;
    }
    problems.add({"out-of-range",
                  number < ranks ? fmt::format("on endpoint {} is a rank", number)
                                 : fmt::format("there is no endpoint {}: the cluster has {}", number, endpoints.size()),
                  section.servers_place,
                  fmt::format("ranks are on the first {} endpoints, and servers behind them", ranks)});
  }
}

AggregatorSettings settings_of(const SlotsSection& section, AggregatorSettings settings) {
  settings.slots = section.slots.value_or(settings.slots);
  settings.loss = section.loss.value_or(settings.loss);
  settings.timeout = section.timeout.value_or(settings.timeout);
  settings.window = section.window.value_or(settings.window);
  settings.payload = section.payload.value_or(settings.payload);
  settings.header = section.header.value_or(settings.header);
  return settings;
}

}  // namespace

void visit(Fields& fields, const EngineModel& engine, SlotsSection& section) {
  read_keys(fields, section);
  if (!fields.reading()) { return; }
  for (const char* key : kKeys) {
    if (!fields.has(key)) { continue; }
    if (section.first.empty()) { section.first = key; }
    if (!engine.slots) {
      fields.problem(key, "conflict", fmt::format("{} does not add up packet by packet", engine.name),
                     R"(only "engine": "switchml" and "atp" do)");
    }
  }
  section.place = fields.place(section.first);
  section.servers_place = fields.place("servers");
  if (engine.slots) { check_values(fields, section, engine.slots->policy); }
}

void resolve(const SlotsSection& section, const Cluster& cluster, const SlotUsers& users, EngineDeployment& aggregation,
             Problems& problems) {
  const EngineModel& engine = aggregation.engine;
  if (!engine.slots) { return; }
  const bool given = !section.first.empty();
  if (given) { check_kind(section, users, engine.name, problems); }
  const bool shared = engine.slots->policy == AggregatorPolicy::best_effort;
  if (users.kind != CollectiveKind::all_reduce || (!given && !shared)) { return; }
  if (users.cuts) {
    problems.add({"conflict",
                  fmt::format("{} adds up packet by packet, and that has no channels, chunks and slices", engine.name),
                  section.place, R"(leave "channels", "chunk" and "slices" out; "payload" is what a packet holds)"});
  }
  if (users.jobs > 1 && users.choose) {
    problems.add({"conflict",
                  fmt::format("several jobs share the slots of {}, and so all run aggregation_tree", engine.name),
                  section.place, R"(write "algorithm": "aggregation_tree")"});
  }
  aggregation.slots = settings_of(section, *engine.slots);
  if (shared) { place_servers(section, cluster, users, aggregation.servers, problems); }
}

}  // namespace athanor
