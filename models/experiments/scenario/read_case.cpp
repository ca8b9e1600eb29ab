#include "models/experiments/scenario/read_case.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/bill/read_price.hpp"
#include "models/experiments/scenario/experiment_kinds.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/scenario/sweep/section.hpp"
#include "models/experiments/scenario/verify_section.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/network/packet/packet_topology.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Switches are worked off in windows as long as the least latency of a link.
void check_latencies(Fields& fields, const Platform& platform) {
  if (platform.network.level != NetworkLevel::packet) { return; }
  const Fabric& fabric = *platform.cluster->fabric;
  for (std::uint32_t vertex = 0; vertex < fabric.vertices(); ++vertex) {
    const Fabric::OutLinks out = fabric.out(VertexId{vertex});
    for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
      if (fabric.link(link).latency >= PacketTopology::kLeastLatency) { continue; }
      return fields.problem(
          "cluster", "out-of-range",
          fmt::format("the link from {} to {} has a latency of {}, and at packet level 1 ns is the least",
                      fabric.name(VertexId{vertex}), fabric.name(fabric.target(link)),
                      to_string(fabric.link(link).latency)),
          "give it a \"latency\": a metre of cable has 5 ns");
    }
  }
}

/// A number counts on from `seed`; a list names them, unless the command line names another one.
void read_seeds(FieldValue& value, std::uint64_t first, bool asked, std::vector<std::uint64_t>& seeds) {
  constexpr std::uint32_t kMostSeeds = 10'000;
  const auto number = [&](FieldValue& given) {
    std::uint32_t count = 1;
    given.visit(count, Range<std::uint32_t>{1, kMostSeeds});
    seeds.clear();
    for (std::uint32_t i = 0; i < count; ++i) { seeds.push_back(first + i); }
  };
  const auto list = [&](FieldValue& given) {
    given.visit(seeds);
    if (asked) { seeds.clear(); }
  };
  value.one_of({{FieldValue::Form::Type::number, number}, {FieldValue::Form::Type::list, list}});
}

/// The reader of each kind whose section the case has.
using Found = std::vector<std::pair<std::string_view, std::unique_ptr<ExperimentReader>>>;

Found read_experiments(CaseParts& parts) {
  Found found;
  for (const ExperimentKind& kind : experiment_kinds()) {
    std::unique_ptr<ExperimentReader> reader = kind.reader();
    bool there = false;
    parts.fields.optional_object(kind.key, kind.meaning, [&](Fields& section) {
      there = true;
      reader->visit(section, parts.context);
    });
    if (!there || !parts.fields.reading()) { continue; }
    if (parts.fields.ok() && parts.platform().cluster) { reader->fit(parts); }
    found.emplace_back(kind.key, std::move(reader));
  }
  return found;
}

/// One experiment, and no more.
void check_number(const Found& found, Fields& fields) {
  std::vector<std::string_view> all;
  std::vector<std::string_view> keys;
  for (const ExperimentKind& kind : experiment_kinds()) {
    all.push_back(kind.key);
    if (fields.has(kind.key)) { keys.push_back(kind.key); }
  }
  if (keys.size() > 1) {
    fields.problem(keys[keys.front() == all.front() ? 1 : 0], "conflict",
                   fmt::format("a case has one of {}, and here are {}", joined(all, ", "), joined(keys, ", ")),
                   R"(take one out; in a case by "collective": null)");
  }
  if (found.empty() && keys.empty()) {
    fields.problem("", "missing-key", "nothing says what is simulated",
                   fmt::format("write one of the keys {}", joined(all, ", ")));
  }
}

/// Of a profile and of the one that prices the inside of nodes.
void tell_errors(const std::shared_ptr<const std::vector<PredictionError>>& errors, Profile& profile) {
  profile.errors = errors;
  if (!profile.inside) { return; }
  Profile inside = *profile.inside;
  if (inside.nccl) { inside.errors = errors; }
  profile.inside = std::make_shared<const Profile>(std::move(inside));
}

void read_parts(CaseParts& parts) {
  Fields& fields = parts.fields;
  ReadingContext& context = parts.context;
  Platform& platform = parts.platform();
  fields.optional_object("network", parts.network, "How data travels");
  platform.network = parts.network.settings;
  fields.required_value("cluster", "Nodes and what joins them", [&](FieldValue& value) {
    value.object([&](Fields& inner) { visit(inner, parts.order.config); });
    if (value.ok()) { parts.order.json = text_of(*value.json()); }
  });
  if (!parts.order.json.empty()) { build_cluster(parts); }
  parts.scenario_case.cluster_config = std::make_shared<const ClusterConfig>(parts.order.config);
  fields.optional_object("prices", "What parts cost and draw, for bills of materials",
                         [&](Fields& inner) { read_prices(inner, parts.scenario_case.prices); });
  Profile profile;
  fields.optional_value(
      "profile",
      "What the software costs: a name in profiles/, a file, or its figures; absent: what \"software\" says, or where "
      "GPUs run NCCL what the pool nccl expects of them; else nothing",
      [&](FieldValue& value) { read_profile(value, context.files, context.library, context.problems, profile); });
  if (profile.nccl) { tell_errors(context.pools.errors(context.library), profile); }
  parts.nccl = read_nccl(fields, profile);
  fields.optional_object("software", parts.software,
                         "The library of MPI, or what a stack of NCCL without a profile consists of");
  platform.profile = std::make_shared<const Profile>(std::move(profile));
  if (fields.has("profile")) { check_vendor(fields, context.library, platform); }
}

}  // namespace

void build_cluster(CaseParts& parts) {
  ClusterCache::Request order = parts.order;
  order.routing = parts.network.routing;
  order.pxn = parts.network.pxn;
  order.fabric = parts.network.fabric;
  order.routing_place = parts.network.routing_place;
  order.fabric_place = parts.network.fabric_place;
  order.seed = parts.platform().seed;
  parts.platform().cluster = parts.context.clusters.build(order, parts.context.problems);
}

std::optional<NicOffload> take_offload(CaseParts& parts) {
  const std::optional<NicOffload>& offload = parts.network.offload;
  const Profile& profile = *parts.platform().profile;
  if (!offload) { return std::nullopt; }
  if (profile.shares_machine()) {
    parts.fields.problem("network", "conflict",
                         "ranks that share one machine have no NICs that could carry a collective out",
                         "leave \"offload\" out");
    return std::nullopt;
  }
  if (profile.nccl) {
    parts.fields.problem("network", "conflict",
                         "NCCL's collectives are carried out by GPUs, and \"offload\" has NICs do it",
                         R"(leave "offload" out, or take a "profile" without "nccl")");
    return std::nullopt;
  }
  parts.platform().profile = std::make_shared<const Profile>(offloaded(profile, *offload));
  return offload;
}

void follow_nccl(const NcclRuntime& runtime, CaseParts& parts) {
  const NcclCommunicator& communicator = runtime.communicator();
  if (!parts.network.settings.queue_pairs) {
    parts.platform().network.queue_pairs = std::min(kMostQueuePairs, communicator.environment.queue_pairs);
  }
  if (restrict_access(communicator.access, parts.order)) { build_cluster(parts); }
}

std::optional<WorkloadNccl> prepare_workload(std::uint32_t ranks, CaseParts& parts) {
  Fields& fields = parts.fields;
  ReadingContext& context = parts.context;
  Platform& platform = parts.platform();
  if (parts.verification) {
    fields.problem("verify", "conflict", "these measurements are of collectives, and this is no collective",
                   R"(say what a step of training took: "measured" of "training")");
    return std::nullopt;
  }
  if (platform.profile->shares_machine()) {
    fields.problem("profile", "conflict", "workloads run on GPUs with memory of their own",
                   "choose a profile of NCCL or MPI");
    return std::nullopt;
  }
  if (parts.software && parts.software->mpi) {
    fields.problem("software", "conflict", "what a library of MPI chooses is known of a collective by itself",
                   R"(leave "mpi" out, or simulate a "collective")");
    return std::nullopt;
  }
  price_by_pool(on_first_endpoints(platform, ranks), ranks, Schedules::of_nccl, parts);
  take_offload(parts);
  if (!fields.ok()) { return std::nullopt; }
  if (parts.network.aggregation) {
    platform.aggregation = resolve_for_groups(*parts.network.aggregation, *platform.cluster, ranks,
                                              fields.place("network"), context.problems);
    if (!platform.aggregation) { return std::nullopt; }
  }
  if (!platform.profile->nccl) { return WorkloadNccl{}; }
  const std::optional<NcclSection> told = with_pxn(fields, parts.nccl, parts.network.pxn, *platform.profile, false);
  if (!fields.ok()) { return std::nullopt; }
  const auto runtime = resolve_nccl(told.value_or(NcclSection{}), on_first_endpoints(platform, ranks), ranks,
                                    fields.place(told ? "nccl" : "profile"), context.files, context.problems);
  if (!runtime) { return std::nullopt; }
  follow_nccl(*runtime, parts);
  if (!platform.cluster) { return std::nullopt; }
  return WorkloadNccl{runtime,
                      nccl_of_groups(told, fields.place(parts.nccl ? "nccl" : "profile"), context.files, platform)};
}

void refuse_software(std::string_view what, CaseParts& parts) {
  if (parts.verification) {
    parts.fields.problem("verify", "conflict", fmt::format("measurements are of collectives, and this is {}", what),
                         "leave it out");
  }
  if (parts.fields.has("profile") && parts.platform().profile->name != kIdealProfile) {
    parts.fields.problem("profile", "conflict", fmt::format("{} has no software whose costs a profile could say", what),
                         "leave it out");
  }
  if (parts.software) {
    parts.fields.problem("software", "conflict", fmt::format("{} has no software that carries collectives out", what),
                         "leave it out");
  }
  if (parts.platform().shares_machine()) {
    parts.fields.problem("cluster", "conflict",
                         fmt::format("ranks that share one machine have no network for {}", what),
                         "describe nodes or a fabric");
  }
}

std::vector<std::string> warnings_of(const Case& scenario_case) {
  std::vector<std::string> warnings = scenario_case.platform.cluster->warnings;
  for (std::string& each : scenario_case.experiment->warnings(scenario_case.platform)) {
    warnings.push_back(std::move(each));
  }
  if (std::string circle = circle_warning(scenario_case.platform); !circle.empty()) {
    warnings.push_back(std::move(circle));
  }
  return warnings;
}

void read_case(Fields& fields, ReadingContext& context, Case& scenario_case, std::vector<SweepAxis>& sweep) {
  std::string schema;
  std::uint64_t& seed = scenario_case.platform.seed;
  fields.optional("$schema", schema, "For editors");
  fields.optional_object("sweep", "What `athanor sweep` varies", [&](Fields& inner) { visit(inner, sweep); });
  fields.optional("name", scenario_case.name, "As results name it");
  fields.optional("seed", seed, "Of routing's choices among equal paths");
  seed = context.changes.seed.value_or(seed);
  fields.optional_value(
      "seeds", "Repetitions with other seeds, counted on from `seed`, or a list of seeds",
      [&](FieldValue& value) { read_seeds(value, seed, context.changes.seed.has_value(), scenario_case.seeds); });
  CaseParts parts{fields, context, scenario_case};
  read_parts(parts);
  const Found found = read_experiments(parts);
  check_number(found, fields);
  fields.optional_object("verify", "A measurement to hold the results against", [&](Fields& inner) {
    visit(inner, context.files, context.library, context.problems, parts.verification);
  });
  if (!fields.ok()) { return; }
  check_latencies(fields, scenario_case.platform);
  scenario_case.experiment = found.front().second->make(parts);
}

}  // namespace athanor
