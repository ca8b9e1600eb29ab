#include "models/execution/run_jobs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "algorithms/schedule/concurrent.hpp"
#include "models/engines/trees/aggregation_manager.hpp"
#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// How many of these endpoints each node has, where all have the same number, one node after the other; else 0.
std::uint32_t endpoints_per_node(const Fabric& fabric, const std::vector<VertexId>& endpoints) {
  std::vector<std::uint32_t> counts;
  std::set<std::uint32_t> seen;
  std::uint32_t last = kNoNode;
  for (const VertexId endpoint : endpoints) {
    const std::uint32_t node = fabric.vertex(endpoint).node;
    if (node == kNoNode) { return 1; }
    if (node != last && !seen.insert(node).second) { return 0; }
    if (node != last) { counts.push_back(0); }
    ++counts.back();
    last = node;
  }
  const bool alike = std::all_of(counts.begin(), counts.end(), [&](std::uint32_t n) { return n == counts.front(); });
  return alike ? counts.front() : 0;
}

/// The sides of the part of a torus that these endpoints are, in rank order: whole rows, planes and so on, which close
/// on themselves as the torus does. Zeros where they are none.
std::array<std::uint32_t, 6> part_of_torus(const Cluster& cluster, const std::vector<std::uint32_t>& endpoints) {
  std::array<std::uint32_t, 6> part{};
  if (std::adjacent_find(endpoints.begin(), endpoints.end(), std::greater_equal<>()) != endpoints.end()) { return {}; }
  std::uint32_t below = 1;  // endpoints of one step in a dimension
  for (const std::uint32_t side : cluster.torus) { below *= std::max(1U, side); }
  std::size_t count = 1;
  std::size_t sides = 0;
  for (const std::uint32_t side : cluster.torus) {
    if (side == 0) { break; }
    below /= side;
    const auto place = [&](std::uint32_t endpoint) { return endpoint / below % side; };
    const auto elsewhere = [&](std::uint32_t endpoint) { return place(endpoint) != place(endpoints.front()); };
    if (std::none_of(endpoints.begin(), endpoints.end(), elsewhere)) { continue; }
    count *= side;
    part.at(sides++) = side;
  }
  // So many different ones, each of which lies within the sides: that is all of them.
  return count == endpoints.size() ? part : std::array<std::uint32_t, 6>{};
}

/// A job from its wish to what it runs. Stays where it is: requests and candidates borrow from it.
class Job {
 public:
  /// `bare`: the cluster without endpoints. `pattern`: a job of the same collective whose choice it takes; null: it
  /// chooses for itself.
  Job(const JobsRequest& request, const Cluster& bare, std::uint32_t number, TreeAdmission* engines, const Job* pattern)
      : number_(number),
        bounds_(request.bounds),
        pattern_(pattern),
        engines_(engines),
        cluster_(cluster_of_job(request.cluster, bare, request.jobs[number].endpoints)),
        request_(own_request(request, request.jobs[number])) {
    choose();
    if (engines_ != nullptr) { keep_trees(); }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Candidate& candidate() const { return choice_->candidate; }
  const RunRequest& request() const { return request_; }
  /// How it ran when it was chosen: alone, from time zero on.
  const Simulated& simulated() const { return choice_->result.simulated; }
  std::uint32_t ranks() const { return request_.collective.ranks; }
  JobStart start() const {
    return {candidate().launch(), engines_ == nullptr ? std::vector<std::uint32_t>{} : engines_->before(number_)};
  }

  JobResult result(const std::vector<JobResult>& before) const {
    JobResult result;
    result.alone = pattern_ != nullptr ? before[pattern_->number_].alone : alone();
    for (const PlacedTree& tree : trees_) { result.roots.push_back(cluster_.fabric->name(tree.switches.front())); }
    return result;
  }

 private:
  RunRequest own_request(const JobsRequest& all, const JobRequest& own) {
    RunRequest request = request_of_job(all, own, cluster_);
    request.options.jobs = {};
    if (engines_ != nullptr) {
      request.trees = [this](TreeRequest wanted) { return try_grant(std::move(wanted)); };
    }
    return request;
  }

  TreeGrant try_grant(TreeRequest wanted) {
    wanted.job = number_;
    TreeGrant grant = engines_->try_grant(wanted);
    if (grant.refusal) { exhausted_ |= grant.refusal->code == "engines-exhausted"; }
    return grant;
  }

  void choose() {
    if (pattern_ != nullptr) {
      if (auto like = pattern_->candidate().on(request_)) {
        choice_.emplace(Choice{std::move(*like), pattern_->choice_->result, {}});
        return;
      }
      pattern_ = nullptr;
    }
    try {
      choice_.emplace(choose_fastest(request_));
    } catch (const SimulationError& error) {
      const bool exhausted = error.code() == "no-candidate" && exhausted_;
      throw SimulationError(exhausted ? "engines-exhausted" : error.code(),
                            fmt::format("job {}: {}", number_, error.what()));
    }
  }

  /// Those that the chosen candidate was laid out on: nothing was granted to anyone since.
  void keep_trees() {
    const std::optional<TreeRequest>& wanted = candidate().wanted_trees();
    if (!wanted) { return; }
    TreeRequest own = *wanted;
    own.job = number_;
    TreeGrant grant = engines_->grant(own);
    require(!grant.refusal, "job {} is refused the trees that it was shown", number_);
    trees_ = std::move(grant.trees);
  }

  RunResult alone() const {
    RunResult result = described(request_, *choice_);
    if (bounds_) { add_bound(request_, result); }
    return result;
  }

  std::uint32_t number_;
  bool bounds_;
  const Job* pattern_;
  TreeAdmission* engines_;
  Cluster cluster_;
  bool exhausted_ = false;
  RunRequest request_;
  std::optional<Choice> choice_;
  std::vector<PlacedTree> trees_;
};

using Jobs = std::vector<std::unique_ptr<Job>>;

/// The schedules of all jobs on one agent_count, the ranks of one job behind those of the other. Jobs with the same
/// schedule share it.
std::vector<ConcurrentPart> parts_of(const Jobs& jobs) {
  std::vector<ConcurrentPart> parts;
  std::uint32_t next = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    ConcurrentPart& part = parts.emplace_back();
    for (std::uint32_t rank = 0; rank < jobs[job]->ranks(); ++rank) { part.ranks.push_back(next++); }
    for (std::size_t other = 0; other < job && !part.schedule; ++other) {
      if (same_schedule(jobs[other]->candidate(), jobs[job]->candidate())) { part.schedule = parts[other].schedule; }
    }
    if (!part.schedule) { part.schedule = jobs[job]->candidate().schedule(); }
  }
  return parts;
}

/// Where all agents are, and which job each belongs to.
struct Seats {
  Placement placement;
  std::vector<std::uint32_t> jobs;
};

Seats seats_of(const Jobs& jobs, const std::vector<ConcurrentPart>& parts, const AgentMapping& mapping) {
  Seats seats;
  std::vector<Placement> own;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    own.push_back(jobs[job]->candidate().place(parts[job].schedule->agent_count()));
  }
  seats.placement.seed = own.front().seed;
  seats.placement.queue_pairs = own.front().queue_pairs;
  for (AgentId agent{0}; agent.value < mapping.agent_count().agents; ++agent.value) {
    const AgentMapping::Role role = mapping.role(agent).value();
    const Placement& of_job = own[role.part];
    seats.placement.vertices.push_back(of_job.vertices[role.agent.value]);
    seats.placement.nic_users.push_back(of_job.nic_users.empty() ? NicUser{} : of_job.nic_users[role.agent.value]);
    seats.jobs.push_back(role.part);
  }
  return seats;
}

Simulated run_side_by_side(const JobsRequest& request, const Jobs& jobs, const std::vector<JobStart>& starts) {
  std::vector<ConcurrentPart> parts = parts_of(jobs);
  std::uint32_t ranks = 0;
  for (const auto& job : jobs) { ranks += job->ranks(); }
  const AgentMapping mapping = agent_mapping(parts, ranks);
  Seats seats = seats_of(jobs, parts, mapping);
  std::vector<std::unique_ptr<const CostModel>> owned;
  std::vector<const CostModel*> costs;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    owned.push_back(jobs[job]->candidate().costs(*parts[job].schedule, jobs[job]->request().element_size));
    costs.push_back(owned.back().get());
  }
  SimulationOptions options = request.options;
  options.jobs = {starts, std::move(seats.jobs)};
  const auto schedule = concurrent(std::move(parts), ranks);
  return simulate(*schedule, request.cluster, seats.placement, SideBySidePricing(mapping, std::move(costs)), options);
}

/// Does one job run beside nothing, as it did when it was chosen? Packets may see that it begins later, and who draws
/// or observes asks for a run.
bool runs_as_chosen(const JobsRequest& request) {
  const SimulationOptions& options = request.options;
  return request.jobs.size() == 1 && options.level != NetworkLevel::packet && options.timeline == nullptr &&
         options.observers.empty();
}

/// What the only job does as it was chosen, but that it begins later.
Simulated begun_at(Time begin, Simulated simulated) {
  for (Time* each : {&simulated.time, &simulated.first_end, &simulated.network.observed}) { *each += begin; }
  simulated.ends = {simulated.time};
  return simulated;
}

void check(const JobsRequest& request) {
  require(!request.jobs.empty(), "no jobs");
  require(!request.profile.shares_machine() && request.cluster.processors == 0 && request.cluster.shared_gpus == 0,
          "jobs whose ranks share one machine");
  std::set<std::uint32_t> taken;
  for (const JobRequest& job : request.jobs) {
    require(job.endpoints.size() == job.collective.ranks, "{} endpoints for {} ranks", job.endpoints.size(),
            job.collective.ranks);
    for (const std::uint32_t endpoint : job.endpoints) {
      require(endpoint < request.cluster.endpoints.size() && taken.insert(endpoint).second,
              "endpoint {} is not there or has two jobs", endpoint);
    }
  }
}

}  // namespace

RunRequest request_of_job(const JobsRequest& all, const JobRequest& own, const Cluster& cluster) {
  RunRequest request{.cluster = cluster,
                     .profile = own.nccl ? all.profile.on_nodes(own.nccl->communicator().nodes) : all.profile,
                     .collective = own.collective,
                     .element_size = own.element_size,
                     .algorithms = own.algorithms,
                     .overrides = own.overrides,
                     .options = all.options,
                     .seed = all.seed,
                     .aggregation = all.aggregation,
                     .type = own.type,
                     .reduction = own.reduction,
                     .nccl = own.nccl};
  request.options.timeline = nullptr;
  return request;
}

Cluster without_endpoints(Cluster cluster) {
  cluster.endpoints = {};
  return cluster;
}

Cluster cluster_of_job(const Cluster& cluster, const std::vector<std::uint32_t>& endpoints) {
  return cluster_of_job(cluster, without_endpoints(cluster), endpoints);
}

Cluster cluster_of_job(const Cluster& cluster, Cluster part, const std::vector<std::uint32_t>& endpoints) {
  part.endpoints.reserve(endpoints.size());
  for (const std::uint32_t endpoint : endpoints) { part.endpoints.push_back(cluster.endpoints.at(endpoint)); }
  if (part.endpoints == cluster.endpoints) { return part; }
  part.endpoints_per_node = endpoints_per_node(*cluster.fabric, part.endpoints);
  part.torus = part_of_torus(cluster, endpoints);
  return part;
}

JobsResult run_jobs(const JobsRequest& request) {
  if (std::optional<JobsResult> by_packets = run_jobs_by_packets(request)) { return std::move(*by_packets); }
  check(request);
  std::optional<TreeAdmission> engines;
  if (request.aggregation) {
    const EngineModel& engine = request.aggregation->engine;
    engines.emplace(*request.cluster.fabric, engine.limits, request.cluster.network, engine.exclusive);
  }
  const Cluster bare = without_endpoints(request.cluster);
  Jobs jobs;
  std::vector<JobStart> starts;
  for (std::uint32_t number = 0; number < request.jobs.size(); ++number) {
    const Job* pattern = request.like_first && number > 0 ? jobs.front().get() : nullptr;
    jobs.push_back(std::make_unique<Job>(request, bare, number, engines ? &*engines : nullptr, pattern));
    starts.push_back(jobs.back()->start());
  }
  JobsResult result;
  result.simulated = runs_as_chosen(request) ? begun_at(starts.front().begin, jobs.front()->simulated())
                                             : run_side_by_side(request, jobs, starts);
  result.time = result.simulated.time;
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    JobResult& job = result.jobs.emplace_back(jobs[number]->result(result.jobs));
    job.time = result.simulated.ends[number];
    for (const std::uint32_t before : starts[number].after) {
      const Time ended = result.simulated.ends[before];
      if (ended > starts[number].begin) { job.waited = std::max(job.waited, ended - starts[number].begin); }
    }
    if (job.alone.time > Time::zero()) { job.slowdown = seconds(job.time) / seconds(job.alone.time); }
  }
  return result;
}

}  // namespace athanor
