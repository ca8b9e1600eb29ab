#include "tools/scenario/read_case.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/execution/choice.hpp"
#include "models/network/packet/packet_topology.hpp"
#include "sim/format.hpp"
#include "tools/bill/read_price.hpp"
#include "tools/scenario/aggregation_section.hpp"
#include "tools/scenario/collective_section.hpp"
#include "tools/scenario/nccl_section.hpp"
#include "tools/scenario/network_section.hpp"
#include "tools/scenario/parameter_server_section.hpp"
#include "tools/scenario/profile_section.hpp"
#include "tools/scenario/sweep/section.hpp"
#include "tools/scenario/training_section.hpp"
#include "tools/scenario/verify_section.hpp"
#include "topologies/scenario/read_text.hpp"

namespace athanor {

namespace {

void check_ranks(ObjectReader& reader, const CollectiveSection& section, const Case& scenario_case) {
  const std::size_t endpoints = scenario_case.cluster->endpoints.size();
  if (scenario_case.ranks > endpoints && !scenario_case.jobs) {
    reader.problem("collective", "too-many-ranks",
                   fmt::format("{} ranks, but the cluster has {} endpoints: {}", scenario_case.ranks, endpoints,
                               scenario_case.cluster->description),
                   fmt::format("\"ranks\" is at most {}, and all of them where it is absent", endpoints));
  } else if (section.root >= scenario_case.ranks && scenario_case.ranks > 0) {
    reader.problem("collective", "no-such-root",
                   fmt::format("the root is rank {}, but ranks go from 0 to {}", section.root, scenario_case.ranks - 1),
                   "");
  }
}

/// Switches are worked off in windows as long as the least latency of a link.
void check_latencies(ObjectReader& reader, const Case& scenario_case) {
  if (scenario_case.level != NetworkLevel::packet) { return; }
  const Fabric& fabric = *scenario_case.cluster->fabric;
  for (std::uint32_t vertex = 0; vertex < fabric.vertices(); ++vertex) {
    const Fabric::OutLinks out = fabric.out(VertexId{vertex});
    for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
      if (fabric.link(link).latency >= PacketTopology::kLeastLatency) { continue; }
      return reader.problem(
          "cluster", "out-of-range",
          fmt::format("the link from {} to {} has a latency of {}, and at packet level 1 ns is the least",
                      fabric.name(VertexId{vertex}), fabric.name(fabric.target(link)),
                      to_string(fabric.link(link).latency)),
          "give it a \"latency\": a metre of cable has 5 ns");
    }
  }
}

void take(const CollectiveSection& section, const ScenarioChanges& changes, Case& scenario_case) {
  scenario_case.kind = section.kind;
  scenario_case.root = section.root;
  scenario_case.in_place = section.in_place;
  scenario_case.type = section.type;
  scenario_case.reduction = section.reduction;
  scenario_case.compute = section.compute;
  const bool has_payload = section.kind != CollectiveKind::barrier;  // to ask for another one is refused later
  scenario_case.sizes = has_payload ? changes.sizes.value_or(section.sizes) : section.sizes;
  scenario_case.algorithms = section.choice.algorithms;
  scenario_case.each_algorithm = section.choice.each;
  scenario_case.imports = section.choice.imports;
  scenario_case.overrides = section.overrides;
  scenario_case.jobs = section.jobs;
}

void build_cluster(const NetworkSection& network, ClusterWorkshop::Order order, ReadingContext& context,
                   Case& scenario_case) {
  order.routing = network.routing;
  order.pxn = network.pxn;
  order.fabric = network.fabric;
  order.routing_place = network.routing_place;
  order.fabric_place = network.fabric_place;
  order.seed = scenario_case.seed;
  scenario_case.cluster = context.workshop.build(order, context.problems);
}

void take_offload(ObjectReader& reader, const NetworkSection& network, Case& scenario_case) {
  if (!network.offload) { return; }
  if (scenario_case.profile.shares_machine()) {
    reader.problem("network", "conflict", "ranks that share one machine have no NICs that could carry a collective out",
                   "leave \"offload\" out");
    return;
  }
  if (scenario_case.profile.nccl) {
    reader.problem("network", "conflict", "NCCL's collectives are carried out by GPUs, and \"offload\" has NICs do it",
                   R"(leave "offload" out, or take a "profile" without "nccl")");
    return;
  }
  scenario_case.offload = network.offload;
  scenario_case.profile = offloaded(std::move(scenario_case.profile), *network.offload);
}

void take_exchange(const CollectiveSection& section, ReadingContext& context, Case& scenario_case) {
  if (!section.exchange) { return; }
  const Bytes element = size_of(scenario_case.type);
  scenario_case.exchange =
      make_exchange(*section.exchange, scenario_case.ranks, element, scenario_case.seed, context.problems);
  if (scenario_case.exchange) { scenario_case.sizes = {element * scenario_case.exchange->largest().count()}; }
}

/// Is something to run in place of engines that cannot be had?
bool falls_back(const Case& scenario_case, const RunRequest& wanted) {
  if (scenario_case.each_algorithm) { return false; }
  RunRequest request = wanted;
  request.algorithms = fallback_of(wanted);
  return std::any_of(request.algorithms.begin(), request.algorithms.end(),
                     [&](const Algorithm* algorithm) { return !why_not(request, *algorithm); });
}

/// Is it "group" that is in the way?
bool fits_without_group(const Case& scenario_case, RunRequest request) {
  request.overrides.group.reset();
  return std::any_of(scenario_case.algorithms.begin(), scenario_case.algorithms.end(),
                     [&](const Algorithm* algorithm) { return !why_not(request, *algorithm); });
}

/// The first size for which nothing fits is told, with what every algorithm lacks and which others would fit.
void check_algorithms(const CollectiveSection& section, ReadingContext& context, const Case& scenario_case) {
  for (const Bytes size : scenario_case.sizes) {
    const RunRequest request = scenario_case.request(size, {});
    std::vector<std::pair<const Algorithm*, std::string>> reasons;
    for (const Algorithm* algorithm : scenario_case.algorithms) {
      const std::optional<std::string> reason = why_not(request, *algorithm);
      if (!reason) { break; }
      reasons.emplace_back(algorithm, *reason);
    }
    if (reasons.size() < scenario_case.algorithms.size() || falls_back(scenario_case, request)) { continue; }
    if (section.group_place && fits_without_group(scenario_case, request)) {
      context.problems.add({"algorithm-does-not-fit",
                            fmt::format("nothing can run {} of {} with nodes of {} ranks:{}", name(scenario_case.kind),
                                        to_string(size), *section.overrides.group, why_none(reasons)),
                            *section.group_place, "leave it out: then it is as many as the cluster's nodes have"});
      return;
    }
    std::vector<std::string> names;
    for (const Algorithm* other : algorithms_of(scenario_case.kind)) {
      if (!why_not(request, *other)) { names.push_back(other->name); }
    }
    context.problems.add(
        {"algorithm-does-not-fit",
         fmt::format("nothing can run {} of {} here:{}", name(scenario_case.kind), to_string(size), why_none(reasons)),
         section.choice.place,
         !names.empty()       ? fmt::format("these fit: {}", fmt::join(names, ", "))
         : scenario_case.nccl ? "change what \"nccl\" asks for, or the profile, or the ranks"
                              : "no algorithm of the catalog fits; change the profile or the ranks"});
    return;
  }
}

/// What NCCL finds on the cluster, and what follows for the case. False where it ends with an error.
bool use_nccl(ObjectReader& reader, const std::optional<NcclSection>& section, ClusterWorkshop::Order order,
              NetworkSection& network, ReadingContext& context, Case& scenario_case) {
  const Place place = reader.place(section ? "nccl" : "profile");
  if (!take_nccl(section, place, context.directory, context.problems, scenario_case)) { return false; }
  const NcclCommunicator& communicator = scenario_case.nccl->communicator();
  scenario_case.queue_pairs =
      network.queue_pairs.value_or(std::min(kMostQueuePairs, communicator.environment.queue_pairs));
  const bool changes = restrict_access(communicator.access, order);
  if (changes) { build_cluster(network, std::move(order), context, scenario_case); }
  return scenario_case.cluster != nullptr;
}

/// Of several jobs the first, or each that has something of its own.
void check_all_algorithms(const CollectiveSection& section, ReadingContext& context, const Case& scenario_case) {
  if (!scenario_case.jobs) { return check_algorithms(section, context, scenario_case); }
  const std::size_t differing = std::max<std::size_t>(1, scenario_case.jobs->own.size());
  for (std::uint32_t job = 0; job < differing; ++job) {
    check_algorithms(section, context, case_of_job(scenario_case, job));
  }
}

SlotUsers users_of(const Case& scenario_case) {
  const Overrides& fixed = scenario_case.overrides;
  return {.kind = scenario_case.kind,
          .ranks = scenario_case.ranks,
          .jobs = scenario_case.jobs ? scenario_case.jobs->jobs : 1,
          .choose = scenario_case.algorithms.size() > 1,
          .cuts = fixed.channels || fixed.chunk || fixed.slices};
}

/// In place of a collective; exactly one of the two is there, or parameter servers in place of both.
void read_traffic(ObjectReader& reader, ReadingContext& context, Case& scenario_case) {
  TrafficText traffic;
  bool found = false;
  reader.optional_object("traffic", "What is simulated in place of a collective: messages between endpoints",
                         [&](ObjectReader& inner) {
                           read(inner, context.directory, context.problems, traffic);
                           found = true;
                         });
  if (reader.describing()) { return; }
  for (const char* other : {"parameter_server", "training", "trace"}) {
    if (!reader.has(other)) { continue; }
    const int others = reader.has("parameter_server") + reader.has("training") + reader.has("trace");
    if (found || reader.has("collective") || others > 1) {
      reader.problem(other, "conflict",
                     "a case has one of a collective, traffic, training, a trace and parameter servers, and here are "
                     "several",
                     R"(take one out; in a case by "collective": null)");
    }
    return;
  }
  if (found == reader.has("collective")) {
    reader.problem(found ? "traffic" : "", found ? "conflict" : "missing-key",
                   found ? "a case has a collective or traffic, and here are both"
                         : "the key 'collective' is missing, or 'traffic' in its place",
                   found ? R"(take one out; in a case by "collective": null)" : "either says what is simulated");
  }
  if (!found || !reader.ok()) { return; }
  if (context.changes.sizes && traffic.sizes.front() > Bytes::zero()) { traffic.sizes = *context.changes.sizes; }
  if (scenario_case.cluster) { resolve(traffic, *scenario_case.cluster, context.problems); }
  scenario_case.sizes = traffic.sizes;
  scenario_case.ranks = traffic.endpoints.value_or(1);
  scenario_case.traffic = std::make_shared<const TrafficText>(std::move(traffic));
}

/// Software costs nothing here, nobody measured it, and threads that share memory send no messages.
void check_traffic(ObjectReader& reader, const Case& scenario_case) {
  const std::string what = scenario_case.traffic ? "traffic" : "training with parameter servers";
  if (scenario_case.verification) {
    reader.problem("verify", "conflict", fmt::format("measurements are of collectives, and this is {}", what),
                   "leave it out");
  }
  if (reader.has("profile") && scenario_case.profile.name != kIdealProfile) {
    reader.problem("profile", "conflict", fmt::format("{} has no software whose costs a profile could say", what),
                   "leave it out");
  }
  if (scenario_case.cluster->processors > 0 || scenario_case.cluster->shared_gpus > 0) {
    reader.problem("cluster", "conflict", fmt::format("ranks that share one machine have no network for {}", what),
                   "describe nodes or a fabric");
  }
}

/// Of training and of traces: collectives run among groups of ranks that are known only while they are simulated.
void prepare_workload(ObjectReader& reader, const std::optional<NcclSection>& nccl, ClusterWorkshop::Order order,
                      NetworkSection& network, ReadingContext& context, Case& scenario_case) {
  if (scenario_case.verification) {
    reader.problem("verify", "conflict", "these measurements are of collectives, and this is no collective",
                   R"(say what a step of training took: "measured" of "training")");
    return;
  }
  if (scenario_case.profile.shares_machine()) {
    reader.problem("profile", "conflict", "workloads run on GPUs with memory of their own",
                   "choose a profile of NCCL or MPI");
    return;
  }
  take_offload(reader, network, scenario_case);
  if (!reader.ok()) { return; }
  if (network.aggregation) {
    scenario_case.aggregation = resolve_for_groups(*network.aggregation, *scenario_case.cluster, scenario_case.ranks,
                                                   reader.place("network"), context.problems);
    if (!scenario_case.aggregation) { return; }
  }
  if (!scenario_case.profile.nccl) { return; }
  const std::optional<NcclSection> told = with_pxn(reader, nccl, network.pxn, scenario_case);
  if (!reader.ok() || !use_nccl(reader, told, std::move(order), network, context, scenario_case)) { return; }
  scenario_case.nccl_groups =
      nccl_of_groups(told, reader.place(nccl ? "nccl" : "profile"), context.directory, scenario_case);
}

void prepare_collective(ObjectReader& reader, const CollectiveSection& section, const std::optional<NcclSection>& nccl,
                        ClusterWorkshop::Order order, NetworkSection& network, ReadingContext& context,
                        Case& scenario_case) {
  const auto endpoints = static_cast<std::uint32_t>(scenario_case.cluster->endpoints.size());
  scenario_case.ranks = section.ranks.value_or(section.jobs ? endpoints / section.jobs->jobs : endpoints);
  if (scenario_case.jobs) { check_jobs(reader, scenario_case); }
  check_ranks(reader, section, scenario_case);
  check_profile(reader, scenario_case);
  check_verification(reader, scenario_case);
  take_offload(reader, network, scenario_case);
  if (!reader.ok()) { return; }
  if (network.aggregation) {
    scenario_case.aggregation =
        resolve(*network.aggregation, *scenario_case.cluster, users_of(scenario_case), context.problems);
    if (!scenario_case.aggregation) { return; }
  }
  check_engines(reader, scenario_case);
  take_exchange(section, context, scenario_case);
  const std::optional<NcclSection> told = with_pxn(reader, nccl, network.pxn, scenario_case);
  if (!reader.ok()) { return; }
  if (scenario_case.profile.nccl && !use_nccl(reader, told, std::move(order), network, context, scenario_case)) {
    return;
  }
  check_all_algorithms(section, context, scenario_case);
}

/// A number counts on from `seed`; a list names them, unless the command line names another one.
void read_seeds(ValueReader& value, std::uint64_t first, bool asked, std::vector<std::uint64_t>& seeds) {
  constexpr std::uint32_t kMostSeeds = 10'000;
  const auto number = [&](ValueReader& given) {
    std::uint32_t count = 1;
    given.read(count, Range<std::uint32_t>{1, kMostSeeds});
    seeds.clear();
    for (std::uint32_t i = 0; i < count; ++i) { seeds.push_back(first + i); }
  };
  const auto list = [&](ValueReader& given) {
    given.read(seeds);
    if (asked) { seeds.clear(); }
  };
  value.one_of({{ValueReader::Form::Type::number, number}, {ValueReader::Form::Type::list, list}});
}

}  // namespace

std::vector<Case> Case::repetitions() const {
  if (seeds.empty()) { return {*this}; }
  std::vector<Case> cases;
  for (const std::uint64_t each : seeds) {
    cases.push_back(*this);
    cases.back().seed = each;
    cases.back().cluster = std::make_shared<const Cluster>(with_seed(*cluster, each));
  }
  return cases;
}

Collective Case::collective(Bytes size) const {
  return {.kind = kind,
          .ranks = ranks,
          .count = Elements{size / size_of(type)},
          .root = root,
          .in_place = in_place,
          .sizes = exchange};
}

RunRequest Case::request(Bytes size, const SimulationOptions& options) const {
  return {.cluster = *cluster,
          .profile = nccl ? profile.on_nodes(nccl->communicator().nodes) : profile,
          .collective = collective(size),
          .element_size = size_of(type),
          .algorithms = algorithms,
          .overrides = overrides,
          .options = options,
          .seed = seed,
          .aggregation = aggregation,
          .type = type,
          .reduction = reduction,
          .nccl = nccl};
}

void read_case(ObjectReader& reader, ReadingContext& context, Case& scenario_case, std::vector<SweepAxis>& sweep) {
  std::string schema;
  reader.optional("$schema", schema, "For editors");
  reader.optional_object("sweep", "What `athanor sweep` varies", [&](ObjectReader& inner) { read(inner, sweep); });
  reader.optional("name", scenario_case.name, "As results name it");
  reader.optional("seed", scenario_case.seed, "Of routing's choices among equal paths");
  if (context.changes.seed) { scenario_case.seed = *context.changes.seed; }
  reader.optional_value("seeds", "Repetitions with other seeds, counted on from `seed`, or a list of seeds",
                        [&](ValueReader& value) {
                          const bool asked = context.changes.seed.has_value();
                          read_seeds(value, scenario_case.seed, asked, scenario_case.seeds);
                        });
  NetworkSection network;
  reader.optional_object("network", "How data travels", [&](ObjectReader& inner) { read(inner, network); });
  scenario_case.level = network.level;
  scenario_case.packet = network.packet;
  scenario_case.queue_pairs = network.queue_pairs.value_or(1);
  ClusterWorkshop::Order order;
  reader.required_value("cluster", "Nodes and what joins them", [&](ValueReader& value) {
    value.object([&](ObjectReader& inner) { read_cluster(inner, order.text); });
    if (!value.describing() && value.ok()) { order.json = value.json()->dump(); }
  });
  if (!order.json.empty()) { build_cluster(network, order, context, scenario_case); }
  scenario_case.cluster_text = std::make_shared<const ClusterText>(order.text);
  reader.optional_object("prices", "What parts cost and draw, for bills of materials",
                         [&](ObjectReader& inner) { read_prices(inner, scenario_case.prices); });
  reader.optional_value(
      "profile", "What the software costs: a name in profiles/, or its figures; absent: nothing",
      [&](ValueReader& value) { read_profile(value, context.library, context.problems, scenario_case.profile); });
  const std::optional<NcclSection> nccl = read_nccl(reader, scenario_case.profile);
  CollectiveSection section;
  const CollectiveContext files{context.directory, context.imports, context.problems};
  reader.optional_object("collective", "What is simulated", [&](ObjectReader& inner) { read(inner, files, section); });
  take(section, context.changes, scenario_case);
  read_parameter_server(reader, context, scenario_case);
  read_training(reader, context, scenario_case);
  read_trace_case(reader, context, scenario_case);
  read_traffic(reader, context, scenario_case);
  reader.optional_object("verify", "A measurement to hold the results against", [&](ObjectReader& inner) {
    read(inner, context.directory, context.library, context.problems, scenario_case.verification);
  });
  if (reader.describing() || !reader.ok()) { return; }
  check_latencies(reader, scenario_case);
  if (scenario_case.traffic || scenario_case.parameter_server) { return check_traffic(reader, scenario_case); }
  if (scenario_case.training || scenario_case.trace) {
    return prepare_workload(reader, nccl, std::move(order), network, context, scenario_case);
  }
  prepare_collective(reader, section, nccl, std::move(order), network, context, scenario_case);
}

}  // namespace athanor
