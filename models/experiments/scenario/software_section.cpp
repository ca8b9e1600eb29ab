#include "models/experiments/scenario/software_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/named_file.hpp"
#include "models/nccl/execution/machine_parts.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/profile.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// The newest release whose rules are known, where none is said.
void read_mpi(Fields& fields, std::optional<MpiLibrary>& mpi) {
  if (fields.writing() && !mpi) { return; }
  MpiLibrary library = mpi.value_or(MpiLibrary{});
  fields.optional("mpi", library.name,
                  "Library of MPI that chooses the algorithms of a collective: " + joined(mpi_names(), ", "),
                  OneOf{mpi_names()});
  fields.optional("release", library.release, "Of that library; absent: the newest whose rules are known");
  if (!fields.reading() || !fields.ok()) { return; }
  if (!fields.has("mpi")) {
    if (fields.has("release")) {
      fields.problem("release", "conflict", "\"release\" is of the library that \"mpi\" names, and none is named",
                     R"(add "mpi": "open-mpi", or leave it out; a release of NCCL is its "nccl")");
    }
    return;
  }
  const std::vector<std::string> known = mpi_releases(library.name);
  if (!fields.has("release")) { library.release = known.back(); }
  if (std::count(known.begin(), known.end(), library.release) == 0) {
    fields.problem("release", "unknown-name",
                   fmt::format("what {} {} chooses is not known here", library.name, library.release),
                   fmt::format("known {} {}", known.size() == 1 ? "is" : "are", joined(known, ", ")));
    return;
  }
  for (const char* key : {"pool", "nccl", "transport", "launch"}) {
    if (!fields.has(key)) { continue; }
    fields.problem(key, "conflict", fmt::format("\"{}\" is of NCCL, and {} carries collectives out", key, library.name),
                   fmt::format("leave out \"{}\" or \"mpi\"", key));
  }
  mpi = library;
}

}  // namespace

void visit(Fields& fields, SoftwareSection& section) {
  read_mpi(fields, section.mpi);
  fields.optional("pool", section.pool, "What measured stacks tell of others: a name in profiles/pools/, or a file");
  fields.optional_value("nccl", "Release, of NCCL or RCCL, whose tuning tables decide; absent: the newest known",
                        [&](FieldValue& value) { visit_version(value, section.version.emplace()); });
  fields.optional(
      "transport", section.transport,
      "What carries messages between nodes: " + joined(transport_names(), ", ") + "; absent: as the nodes' NICs are",
      OneOf{transport_names()});
  fields.optional("launch", section.launch, "How many processes drive the GPUs of a node",
                  {{"process_per_gpu", Launch::process_per_gpu}, {"process_per_node", Launch::process_per_node}});
}

namespace {

template <class Pool>
Pool read_pool_file(const Library& library, const std::string& path) {
  const Document document = Document::load(library.files(), path);
  Pool pool;
  Problems problems;
  read_document(document, problems, [&](Fields& fields) { visit(fields, pool); });
  problems.throw_if_any();
  return pool;
}

}  // namespace

SoftwarePool read_pool(const Library& library, const std::string& name) {
  const bool known = library.has(LibraryFolder::pools, name);
  return read_pool_file<SoftwarePool>(library, known ? library.path(LibraryFolder::pools, name) : name);
}

std::shared_ptr<const SoftwarePool> PoolCache::pool(const Library& library, const FileReader& files,
                                                    const std::string& name) {
  const std::string path = names_file(name) ? files.path(name) : name;
  std::shared_ptr<const SoftwarePool>& known = pools_[path];
  if (!known) { known = std::make_shared<const SoftwarePool>(read_pool(library, path)); }
  return known;
}

std::shared_ptr<const std::vector<PredictionError>> PoolCache::errors(const Library& library) {
  const std::string name(kDefaultPool);
  if (!library.has(LibraryFolder::pools, name)) { return nullptr; }
  const auto known = pool(library, library.files(), name);
  return known->errors.empty() ? nullptr : std::shared_ptr<const std::vector<PredictionError>>(known, &known->errors);
}

std::shared_ptr<const ComputePool> PoolCache::steps(const Library& library) {
  if (!steps_ && library.has(LibraryFolder::compute_pools, kStepPool)) {
    steps_ = std::make_shared<const ComputePool>(
        read_pool_file<ComputePool>(library, library.path(LibraryFolder::compute_pools, kStepPool)));
  }
  return steps_;
}

namespace {

bool has_nccl(const Cluster& cluster) { return !gpu_name(cluster).empty(); }
bool is_amd(const Cluster& cluster) { return !cluster.identity->architecture.empty(); }

/// What no measured stack tells of; "": a pool prices the case unasked.
std::string unmeasured(const CaseParts& parts, const Platform& own, Schedules schedules) {
  if (!has_nccl(*own.cluster)) {
    const std::string vendor = gpu_vendor(*own.cluster->identity);
    const bool known = vendor == "NVIDIA" || vendor == "AMD";
    return known ? fmt::format("GPUs from {} whose \"{}\" nobody says", vendor,
                               vendor == "AMD" ? "architecture" : "compute_capability")
                 : "ranks that are no GPUs of NVIDIA's or AMD's";
  }
  if (schedules != Schedules::of_nccl) { return "schedules that NCCL does not choose"; }
  if (!parts.order.config.mixture.empty()) { return "nodes of several kinds"; }
  if (own.cluster->endpoints_per_node == 0) { return "GPUs that are in no nodes"; }
  if (parts.network.offload) { return "NICs that carry a schedule out"; }
  if (parts.network.aggregation) { return "switches that reduce"; }
  return "";
}

bool has_pool(const CaseParts& parts) {
  return parts.context.library.has(LibraryFolder::pools, std::string(kDefaultPool));
}

/// The ideal profile, saying that nobody asked for it.
void price_ideally(const std::string& unmeasured, Platform& platform) {
  Profile ideal = *platform.profile;
  ideal.description = fmt::format(
      "nobody measured the software of {}: no cost of it is counted, and no interval known; "
      "latency, bandwidth and contention of the hardware only",
      unmeasured);
  platform.profile = std::make_shared<const Profile>(std::move(ideal));
}

/// Reports what "software" does not go with; true: there is nothing.
bool check_software(const CaseParts& parts, const Platform& own) {
  const auto conflict = [&](const char* what, const char* hint) {
    parts.fields.problem("software", "conflict", what, hint);
    return false;
  };
  if (parts.fields.has("profile")) {
    return conflict("a \"profile\" has figures, and \"software\" has a pool tell them", "leave one of the two out");
  }
  if (own.shares_machine() || !has_nccl(*own.cluster)) {
    return conflict("these nodes have no GPUs that NCCL or RCCL is known to run on",
                    R"(leave it out, or name a "gpu" of NVIDIA's or AMD's)");
  }
  const std::string& pool = parts.software->pool;
  if (!names_file(pool) && !parts.context.library.has(LibraryFolder::pools, pool)) {
    parts.fields.problem("software", "unknown-pool", fmt::format("there is no pool '{}'", pool),
                         fmt::format("it is one of {}, or a file's path",
                                     joined(parts.context.library.names(LibraryFolder::pools), ", ")));
    return false;
  }
  if (!parts.order.config.mixture.empty()) {
    return conflict("nodes are of several kinds, and a stack has one", R"(leave it out, or take one "node")");
  }
  if (parts.software->version && parts.nccl && parts.nccl->version) {
    return conflict("\"nccl\" says a version, too", "leave one of the two out");
  }
  return true;
}

Profile without_figures(const SoftwareSection& software, const Cluster& cluster) {
  Profile profile = blank_profile({.rccl = is_amd(cluster)});
  if (software.version) { profile.nccl->version = *software.version; }
  return profile;
}

std::string described(const SoftwarePool& pool, const StackParts& parts) {
  std::string text = fmt::format("what {} tell of {}", pool.description.empty() ? "measured stacks" : pool.description,
                                 parts.rccl ? "RCCL" : "NCCL");
  if (!parts.gpu.empty()) { text += " on " + parts.gpu; }
  if (!parts.link.empty()) { text += " over " + parts.link; }
  if (!parts.transport.empty()) { text += " and " + parts.transport; }
  return text + (parts.one_process ? ", a process for each node" : ", a process for each GPU");
}

}  // namespace

namespace {

/// What carries messages between the nodes.
std::string transport_of(const SoftwareSection& software, const NcclCommunicator& communicator, const Cluster& cluster,
                         const CaseParts& parts) {
  if (!software.transport.empty() && communicator.nodes == 1) {
    parts.context.problems.add(
        {"no-effect", "'transport' has no effect here: all ranks are in one node, and nothing goes over a NIC",
         parts.fields.place("software"), "leave it out, or take more nodes"});
  }
  if (!software.transport.empty()) { return software.transport; }
  const std::string& own = cluster.identity->transport;
  const std::vector<std::string> known = transport_names();
  if (!own.empty() && std::count(known.begin(), known.end(), own) == 0) {
    parts.context.problems.add({"unknown-name", fmt::format("the nodes' \"transport\" '{}' is none that is known", own),
                                parts.fields.place("cluster"), fmt::format("it is one of {}", joined(known, ", "))});
  }
  return own.empty() ? std::string(usual_transport(cluster.identity->nic, cluster.identity->infiniband)) : own;
}

}  // namespace

void check_mpi(const Platform& own, CaseParts& parts) {
  const std::string& library = parts.software->mpi->name;
  const auto conflict = [&](std::string_view key, const std::string& what, const char* hint) {
    parts.fields.problem(key, "conflict", what, hint);
  };
  if (own.shares_machine()) {
    conflict("software", "ranks that share one machine are no processes of " + library, R"(leave "mpi" out)");
  }
  if (parts.nccl) {
    conflict("nccl", fmt::format("{} carries collectives out, and \"nccl\" asks how NCCL would", library),
             R"(leave "nccl" out, or "mpi" of "software")");
  } else if (own.profile->nccl) {
    conflict("profile", fmt::format("{} carries collectives out, and the profile is of NCCL", library),
             R"(take a "profile" of MPI, or leave "mpi" of "software" out)");
  }
  if (parts.fields.has("profile")) { return; }
  Profile ideal = *parts.platform().profile;
  ideal.description = fmt::format(
      "no \"profile\" says what {} costs: no cost of software is counted; latency, bandwidth and contention of the "
      "hardware only",
      library);
  parts.platform().profile = std::make_shared<const Profile>(std::move(ideal));
}

void price_by_pool(const Platform& own, std::uint32_t ranks, Schedules schedules, CaseParts& parts) {
  const bool asked = parts.software.has_value();
  const bool bare = own.shares_machine() || !own.cluster->identity;  // threads, or a graph of links alone
  if (asked ? !check_software(parts, own) : parts.fields.has("profile") || bare || !has_pool(parts)) { return; }
  const std::string why = asked ? "" : unmeasured(parts, own, schedules);
  if (!why.empty()) { return price_ideally(why, parts.platform()); }
  const SoftwareSection software = parts.software.value_or(SoftwareSection{});
  Platform platform = own;
  Profile profile = without_figures(software, *own.cluster);
  const NcclVersion version = profile.nccl->version;
  platform.profile = std::make_shared<const Profile>(std::move(profile));
  Problems problems;
  const auto runtime = resolve_nccl(parts.nccl.value_or(NcclSection{}), platform, ranks,
                                    parts.fields.place(asked ? "software" : "cluster"), parts.context.files, problems);
  if (!runtime) {  // what nobody asked for is left out where it cannot be
    for (const Problem& each : problems.list()) {
      if (asked || parts.nccl) { parts.context.problems.add(each); }
    }
    return;
  }
  StackParts stack = machine_parts(*own.cluster, runtime->communicator(),
                                   transport_of(software, runtime->communicator(), *own.cluster, parts));
  stack.one_process = software.launch == Launch::process_per_node;
  const auto pool = parts.context.pools.pool(parts.context.library, parts.context.files, software.pool);
  Profile priced = pooled_profile(*pool, stack);
  priced.description = described(*pool, stack);
  if (!pool->errors.empty()) {
    priced.errors = std::shared_ptr<const std::vector<PredictionError>>(pool, &pool->errors);
  }
  priced.transport = stack.transport;
  priced.nccl->version = version;
  parts.platform().profile = std::make_shared<const Profile>(std::move(priced));
}

}  // namespace athanor
