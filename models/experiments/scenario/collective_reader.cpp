#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/experiments/jobs.hpp"
#include "models/experiments/mpi.hpp"
#include "models/experiments/scenario/aggregation_section.hpp"
#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/scenario/verify_section.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/profile.hpp"
#include "models/synthesis/synthesis_cache.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Runtime = std::shared_ptr<const NcclRuntime>;

/// Of the section, what does not depend on the platform.
JobsSetup setup_of(const CollectiveSection& section, const ScenarioChanges& changes) {
  JobsSetup setup;
  CollectiveSetup& common = setup.common;
  common.kind = section.kind;
  common.root = section.root;
  common.in_place = section.in_place;
  common.type = section.type;
  common.reduction = section.reduction;
  common.compute = section.compute;
  const bool has_payload = section.kind != CollectiveKind::barrier;  // to ask for another one is refused later
  common.sizes = has_payload ? changes.sizes.value_or(section.sizes) : section.sizes;
  common.algorithms = section.choice.algorithms;
  common.each_algorithm = section.choice.each;
  common.imports = section.choice.imports;
  common.overrides = section.overrides;
  if (!section.jobs) { return setup; }
  setup.jobs = section.jobs->jobs;
  setup.placement = section.jobs->placement;
  for (const JobConfig& job : section.jobs->own) {
    OwnOfJob& own = setup.own.emplace_back(OwnOfJob{job.kind, job.size, {}});
    if (!job.choice) { continue; }
    own.algorithms = job.choice->algorithms;
    common.imports.insert(common.imports.end(), job.choice->imports.begin(), job.choice->imports.end());
  }
  return setup;
}

void check_ranks(Fields& fields, const Cluster& cluster, const CollectiveSetup& setup, bool one) {
  const std::size_t endpoints = cluster.endpoints.size();
  if (setup.ranks > endpoints && one) {
    fields.problem(
        "collective", "too-many-ranks",
        fmt::format("{} ranks, but the cluster has {} endpoints: {}", setup.ranks, endpoints, cluster.description),
        fmt::format("\"ranks\" is at most {}, and all of them where it is absent", endpoints));
  } else if (setup.root >= setup.ranks && setup.ranks > 0) {
    fields.problem("collective", "no-such-root",
                   fmt::format("the root is rank {}, but ranks go from 0 to {}", setup.root, setup.ranks - 1), "");
  }
}

/// Is something to run in place of engines that cannot be had?
bool falls_back(const CollectiveSetup& setup, const RunRequest& wanted) {
  if (setup.each_algorithm) { return false; }
  RunRequest request = wanted;
  request.algorithms = fallback_of(wanted);
  return std::any_of(request.algorithms.begin(), request.algorithms.end(),
                     [&](const Algorithm* algorithm) { return !why_not(request, *algorithm); });
}

/// Is it "group" that is in the way?
bool fits_without_group(const CollectiveSetup& setup, RunRequest request) {
  request.overrides.group.reset();
  return std::any_of(setup.algorithms.begin(), setup.algorithms.end(),
                     [&](const Algorithm* algorithm) { return !why_not(request, *algorithm); });
}

using Reasons = std::vector<std::pair<const Algorithm*, std::string>>;

/// Why each of the algorithms cannot run; one that can: none of them.
Reasons obstacles(const RunRequest& request) {
  Reasons reasons;
  for (const Algorithm* algorithm : request.algorithms) {
    const std::optional<std::string> reason = why_not(request, *algorithm);
    if (!reason) { return {}; }
    reasons.emplace_back(algorithm, *reason);
  }
  return reasons;
}

/// With what every algorithm lacks, and which others would fit.
Problem no_algorithm(const CollectiveSection& section, const CollectiveSetup& setup, const RunRequest& request,
                     Bytes size, const Reasons& reasons) {
  if (section.group_place && fits_without_group(setup, request)) {
    return {"algorithm-does-not-fit",
            fmt::format("nothing can run {} of {} with nodes of {} ranks:{}", name(setup.kind), to_string(size),
                        *section.overrides.group, why_none(reasons)),
            *section.group_place, "leave it out: then it is as many as the cluster's nodes have"};
  }
  std::vector<std::string> names;
  for (const Algorithm* other : algorithms_of(setup.kind)) {
    if (!why_not(request, *other)) { names.push_back(other->name); }
  }
  return {"algorithm-does-not-fit",
          fmt::format("nothing can run {} of {} here:{}", name(setup.kind), to_string(size), why_none(reasons)),
          section.choice.place,
          !names.empty() ? fmt::format("these fit: {}", joined(names, ", "))
          : setup.nccl   ? "change what \"nccl\" asks for, or the profile, or the ranks"
                         : "no algorithm of the catalog fits; change the profile or the ranks"};
}

/// The first size for which nothing fits is told.
void check_algorithms(const CollectiveSection& section, const Platform& platform, const CollectiveSetup& setup,
                      Problems& problems) {
  for (const Bytes size : setup.sizes) {
    const RunRequest request = setup.request(platform, size, {});
    if (const auto reason = setup.mpi ? why_not_mpis(*setup.mpi, request) : std::nullopt) {
      return problems.add({"algorithm-does-not-fit", *reason, section.choice.place,
                           R"(choose other "sizes", or name an "algorithm" and leave "mpi" of "software" out)"});
    }
    const Reasons reasons = obstacles(request);
    if (reasons.empty() || falls_back(setup, request)) { continue; }
    return problems.add(no_algorithm(section, setup, request, size, reasons));
  }
}

/// Jobs share a cluster, which has one path between two GPUs.
bool reach_alike(const std::vector<Runtime>& runtimes, const SourceLocation& place, Problems& problems) {
  const NcclAccess& first = runtimes.front()->communicator().access;
  const bool alike = std::all_of(runtimes.begin(), runtimes.end(),
                                 [&](const Runtime& each) { return each->communicator().access == first; });
  if (alike) { return true; }
  problems.add(
      {"not-simulated",
       "jobs reach the memory of GPUs in different ways (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, NCCL_NET_GDR_LEVEL, "
       "gpu_direct), which is not simulated side by side",
       place, "give all jobs the same of these"});
  return false;
}

/// What measures a loop of them; MPI's benchmarks have a barrier between calls of the collectives with a root.
bool in_a_loop(const Measurement& measurement) { return measurement.kind == "nccl-tests"; }

/// As many as were asked for; else as a table was measured, where the platform can.
std::uint32_t calls_of(const CollectiveSection& section, const CollectiveSetup& setup, const Profile& profile) {
  constexpr std::uint32_t kOfNcclTests = 20;
  const bool looped = setup.verification && in_a_loop(setup.verification->measurement) && !setup.compute &&
                      !section.jobs && !profile.shares_machine();
  return section.calls.value_or(looped ? kOfNcclTests : 1);
}

/// What calls that follow each other do not go with.
void check_calls(Fields& fields, const CollectiveSection& section, const CollectiveSetup& setup,
                 const Profile& profile) {
  if (setup.calls == 1) { return; }
  const auto conflict = [&](const char* what, const char* hint) {
    fields.problem("collective", "conflict", what, hint);
  };
  if (section.jobs) { conflict("of several jobs each runs one call", R"(leave out "calls" or "jobs")"); }
  if (setup.compute) {
    conflict("what hosts compute is beside one call, not beside many that follow each other",
             R"(leave out "compute" or "calls")");
  }
  if (profile.shares_machine()) {
    conflict("threads and blocks on one machine are timed in a repetition as it is; their calls do not overlap",
             R"(leave out "calls")");
  }
}

/// What the library decides, and the section would.
void check_left_to_mpi(Fields& fields, const CollectiveSection& section, const MpiLibrary& library) {
  const Overrides& cut = section.overrides;
  const std::pair<bool, const char*> asked[] = {
      {section.choice.named, "algorithm"},        {cut.channels.has_value(), "channels"},
      {cut.chunk.has_value(), "chunk"},           {cut.slices.has_value(), "slices"},
      {cut.rotate.has_value(), "rotate"},         {cut.group.has_value(), "group"},
      {cut.dimensions.has_value(), "dimensions"}, {cut.rings.has_value(), "rings"},
      {section.jobs.has_value(), "jobs"}};
  for (const auto& [said, key] : asked) {
    if (!said) { continue; }
    fields.problem(
        "collective", "conflict",
        fmt::format("\"{}\" does not go with \"mpi\" of \"software\": {} chooses the algorithm and how it is "
                    "cut, of one job",
                    key, library.name),
        fmt::format("leave out \"{}\", or \"mpi\"", key));
  }
}

/// The algorithms that the library takes at the sizes, each once.
std::vector<const Algorithm*> chosen_algorithms(const CollectiveSetup& setup, const Platform& platform) {
  std::vector<const Algorithm*> chosen;
  for (const Bytes size : setup.sizes) {
    for (const Algorithm* algorithm : setup.request(platform, size, {}).algorithms) {
      if (std::count(chosen.begin(), chosen.end(), algorithm) == 0) { chosen.push_back(algorithm); }
    }
  }
  return chosen;
}

/// By what the section names, and how it cuts it.
Schedules schedules_of(const CollectiveSection& section) {
  const Overrides& cut = section.overrides;
  const bool cuts = cut.channels || cut.chunk || cut.slices || cut.rotate || cut.group || cut.dimensions || cut.rings;
  const std::vector<const Algorithm*>& named = section.choice.algorithms;
  const auto foreign = [](const Algorithm* each) { return !is_nccls(*each, true) && !is_nccls(*each, false); };
  const bool all = named.size() == algorithms_of(section.kind).size();
  const bool own = cuts || section.compute || (!all && std::any_of(named.begin(), named.end(), foreign));
  return own ? Schedules::of_the_user : Schedules::of_nccl;
}

/// One collective, or several jobs.
class CollectiveReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, {context.files, context.imports, context.problems}, section_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    JobsSetup setup = setup_of(section_, parts.context.changes);
    if (!check(parts, setup) || !take_engines(parts, setup)) { return nullptr; }
    take_exchange(parts, setup.common);
    const std::optional<NcclSection> told =
        with_pxn(parts.fields, parts.nccl, parts.network.pxn, *parts.platform().profile,
                 several() && section_.jobs->has_own_nccl());
    if (!parts.fields.ok()) { return nullptr; }
    if (parts.platform().profile->nccl && !take_nccl(told, parts, setup)) { return nullptr; }
    check_algorithms_of_all(parts, setup);
    check_packets(parts, setup.common);
    if (several()) { return std::make_shared<const JobsExperiment>(std::move(setup)); }
    return std::make_shared<const CollectiveExperiment>(std::move(setup.common));
  }

 private:
  bool several() const { return section_.jobs.has_value(); }

  bool check(CaseParts& parts, JobsSetup& setup) const {
    const Platform& platform = parts.platform();
    CollectiveSetup& common = setup.common;
    const auto endpoints = static_cast<std::uint32_t>(platform.cluster->endpoints.size());
    common.ranks = section_.ranks.value_or(endpoints / setup.jobs);
    common.verification = parts.verification;
    if (!take_synthesised(parts, setup)) { return false; }
    if (common.ranks > 0 && common.ranks * std::uint64_t{setup.jobs} <= endpoints) {
      price(on_first_endpoints(platform, common.ranks), parts, common);
    }
    common.calls = calls_of(section_, common, *platform.profile);
    check_calls(parts.fields, section_, common, *platform.profile);
    if (several()) { check_jobs(parts, *section_.jobs, setup); }
    check_ranks(parts.fields, *platform.cluster, common, !several());
    check_profile(parts.fields, platform, common.overrides.protocol);
    if (common.verification) { check_verification(parts.fields, *platform.cluster, common); }
    common.offload = take_offload(parts);
    return parts.fields.ok();
  }

  /// Makes the collective for the fabric, where that is wanted.
  bool take_synthesised(CaseParts& parts, JobsSetup& setup) const {
    const std::vector<JobConfig> none;
    const std::vector<JobConfig>& own = several() ? section_.jobs->own : none;
    const bool of_jobs =
        std::any_of(own.begin(), own.end(), [](const JobConfig& job) { return job.choice && job.choice->synthesised; });
    if (!section_.choice.synthesised && !of_jobs) { return true; }
    if (several()) {
      return refuse_synthesised(parts,
                                "a collective is synthesised for a fabric that it has to itself, and these are "
                                "several jobs");
    }
    CollectiveSetup& common = setup.common;
    if (common.ranks > parts.platform().cluster->endpoints.size()) { return true; }  // said elsewhere
    const ClusterSynthesis& made = parts.context.syntheses.get(parts.platform().cluster, common.kind, common.ranks);
    if (!made.algorithm) { return refuse_synthesised(parts, made.refusal); }
    common.algorithms.push_back(made.algorithm.get());
    common.imports.push_back(made.algorithm);
    return true;
  }

  bool refuse_synthesised(CaseParts& parts, const std::string& reason) const {
    const std::vector<const Algorithm*> others = algorithms_of(section_.kind);
    parts.context.problems.add(
        {"algorithm-does-not-fit", fmt::format("nothing can be synthesised here: {}", reason), section_.choice.place,
         others.empty() ? "" : fmt::format("take another one, as \"{}\"", others.front()->name)});
    return false;
  }

  void price(const Platform& own, CaseParts& parts, CollectiveSetup& common) const {
    if (!parts.software || !parts.software->mpi) {
      return price_by_pool(own, common.ranks, schedules_of(section_), parts);
    }
    check_mpi(own, parts);
    check_left_to_mpi(parts.fields, section_, *parts.software->mpi);
    if (!parts.fields.ok()) { return; }
    common.mpi = parts.software->mpi;
    common.algorithms = chosen_algorithms(common, parts.platform());
  }

  bool take_engines(CaseParts& parts, const JobsSetup& setup) const {
    Platform& platform = parts.platform();
    if (parts.network.aggregation) {
      const Overrides& fixed = setup.common.overrides;
      const SlotUsers users{.kind = setup.common.kind,
                            .ranks = setup.common.ranks,
                            .jobs = setup.jobs,
                            .choose = setup.common.algorithms.size() > 1,
                            .cuts = fixed.channels || fixed.chunk || fixed.slices};
      platform.aggregation = resolve(*parts.network.aggregation, *platform.cluster, users, parts.context.problems);
      if (!platform.aggregation) { return false; }
    }
    check_engines(parts.fields, platform);
    return true;
  }

  void take_exchange(const CaseParts& parts, CollectiveSetup& common) const {
    if (!section_.exchange) { return; }
    const Bytes element = size_of(common.type);
    common.exchange =
        make_exchange(*section_.exchange, common.ranks, element, parts.platform().seed, parts.context.problems);
    if (common.exchange) { common.sizes = {element * common.exchange->largest().count()}; }
  }

  /// False where NCCL would end with an error.
  bool take_nccl(const std::optional<NcclSection>& told, CaseParts& parts, JobsSetup& setup) const {
    const SourceLocation place = parts.fields.place(told ? "nccl" : "profile");
    const NcclSection common = told.value_or(NcclSection{});
    const ReadingContext& context = parts.context;
    if (several()) {
      if (!take_nccl_of_jobs(common, place, parts, setup)) { return false; }
      setup.common.nccl = setup.nccl.front();
    } else {
      const Platform own = on_first_endpoints(parts.platform(), setup.common.ranks);
      setup.common.nccl = resolve_nccl(common, own, setup.common.ranks, place, context.files, context.problems);
      if (!setup.common.nccl) { return false; }
    }
    leave_to_nccl(setup.common);
    if (several() && !reach_alike(setup.nccl, place, context.problems)) { return false; }
    follow_nccl(*setup.common.nccl, parts);
    return parts.platform().cluster != nullptr;
  }

  bool take_nccl_of_jobs(const NcclSection& common, const SourceLocation& place, const CaseParts& parts,
                         JobsSetup& setup) const {
    const ReadingContext& context = parts.context;
    std::map<std::vector<std::uint32_t>, Runtime> known;  // of those with the common section
    for (std::uint32_t job = 0; job < setup.jobs; ++job) {
      const Platform platform = on_endpoints(parts.platform(), setup.endpoints(job));
      const bool has_own = !section_.jobs->own.empty() && section_.jobs->own[job].nccl;
      Runtime fresh;
      Runtime& runtime = has_own ? fresh : known[places_of(*platform.cluster)];
      if (!runtime) {
        runtime = resolve_nccl(has_own ? *section_.jobs->own[job].nccl : common, platform, setup.common.ranks, place,
                               context.files, context.problems);
      }
      if (!runtime) { return false; }
      setup.nccl.push_back(runtime);
    }
    return true;
  }

  /// Of several jobs the first, or each that has something of its own.
  void check_algorithms_of_all(const CaseParts& parts, const JobsSetup& setup) const {
    Problems& problems = parts.context.problems;
    if (!several()) { return check_algorithms(section_, parts.platform(), setup.common, problems); }
    const std::size_t differing = std::max<std::size_t>(1, setup.own.size());
    for (std::uint32_t job = 0; job < differing; ++job) {
      const Platform platform = on_endpoints(parts.platform(), setup.endpoints(job));
      check_algorithms(section_, platform, setup.alone(job), problems);
    }
  }

  /// Slots of switches are simulated by one aggregation.
  void check_packets(const CaseParts& parts, const CollectiveSetup& setup) const {
    if (setup.calls == 1 || !parts.platform().aggregation || setup.sizes.empty()) { return; }
    const Platform& platform = parts.platform();
    if (!uses_aggregators(setup.request(platform, setup.sizes.front(), {}))) { return; }
    parts.fields.problem("collective", "conflict", "packets that switches add up in slots are those of one call",
                         R"(leave out "calls")");
  }

  CollectiveSection section_;
};

}  // namespace

std::unique_ptr<ExperimentReader> collective_reader() { return std::make_unique<CollectiveReader>(); }

}  // namespace athanor
