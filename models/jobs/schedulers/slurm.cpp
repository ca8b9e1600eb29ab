#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/fair_share.hpp"
#include "models/jobs/schedulers/ordered_scheduler.hpp"
#include "models/jobs/schedulers/preemption.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

struct SlurmPartition {
  std::string name;
  std::uint32_t job_factor = 1;
  std::uint32_t tier = 1;
};

struct SlurmShares {
  std::string account;
  std::string user;  ///< "": of the account itself
  std::uint32_t shares = 1;
};

struct SlurmSettings {
  enum class FairShare : std::uint8_t { tree, classic };
  OrderedSettings queue;
  std::uint32_t weight_age = 1'000;
  std::uint32_t weight_fair_share = 0;
  std::uint32_t weight_job_size = 0;
  std::uint32_t weight_partition = 0;
  WallTime max_age{604'800'000'000};
  WallTime decay_half_life{604'800'000'000};
  WallTime calc_period{300'000'000};
  bool favor_small = false;
  FairShare fair_share = FairShare::tree;
  std::uint32_t dampening = 1;
  bool preempt = false;
  std::vector<SlurmPartition> partitions;
  std::vector<SlurmShares> shares;
};

/// What users have had, by account (the queue of a job) and user, with what was long ago counting less.
class SlurmUsage {
 public:
  SlurmUsage(const SlurmSettings& settings, const JobList& jobs) : settings_(settings) {
    std::map<NameId, std::uint32_t> accounts;
    std::map<std::pair<NameId, NameId>, std::uint32_t> known;
    for (const Job& job : jobs.jobs) {
      const auto next = static_cast<std::uint32_t>(associations_.size());
      const auto [at, fresh] = known.try_emplace({job.queue, job.user}, next);
      of_job_.push_back(at->second);
      if (!fresh) { continue; }
      const std::uint32_t account =
          accounts.try_emplace(job.queue, static_cast<std::uint32_t>(accounts.size())).first->second;
      associations_.push_back(
          {account, shares(jobs.name(job.queue), ""), shares(jobs.name(job.queue), jobs.name(job.user)), 0});
      gpus_.push_back(0);
    }
  }

  /// A job's GPUs, that it gets from now on or gives back.
  void change(JobId job, double gpus, WallTime now) {
    advance(now);
    gpus_[of_job_[job.value]] += gpus;
  }

  void advance(WallTime now) {
    if (now == now_) { return; }
    const double span = seconds(now - now_);
    const double half_life = seconds(settings_.decay_half_life);
    const double left = half_life > 0 ? std::exp2(-span / half_life) : 1;
    const double counted = half_life > 0 ? half_life / std::log(2.0) * (1 - left) : span;
    for (std::size_t i = 0; i < associations_.size(); ++i) {
      associations_[i].usage = associations_[i].usage * left + gpus_[i] * counted;
    }
    now_ = now;
  }

  /// Of the job's user, as things are.
  double factor(JobId job) const { return factors_.empty() ? 1 : factors_[of_job_[job.value]]; }
  void weigh() {
    factors_ = settings_.fair_share == SlurmSettings::FairShare::tree
                   ? fair_tree(associations_)
                   : classic_fair_share(associations_, settings_.dampening);
  }

 private:
  double shares(const std::string& account, const std::string& user) const {
    for (const SlurmShares& each : settings_.shares) {
      if (each.account == account && each.user == user) { return each.shares; }
    }
    return 1;
  }

  const SlurmSettings& settings_;
  std::vector<std::uint32_t> of_job_;
  std::vector<Association> associations_;
  std::vector<double> gpus_;  ///< that each has at present
  std::vector<double> factors_;
  WallTime now_;
};

class SlurmScheduler final : public OrderedScheduler {
 public:
  SlurmScheduler(const SlurmSettings& settings, const JobList& jobs, const NodeList& nodes)
      : OrderedScheduler(nullptr, settings.queue),
        settings_(settings),
        gpus_(std::max(1U, nodes.gpus())),
        keys_(jobs.size()),
        on_nodes_(jobs.size()),
        usage_(settings_, jobs) {
    for (const SlurmPartition& partition : settings.partitions) {
      most_factor_ = std::max(most_factor_, partition.job_factor);
    }
    usage_.weigh();
  }

  WallTime next_call(const ClusterState& state) const override {
    // While nothing runs, what does not fit never will.
    return waiting() == 0 || state.running().empty() ? WallTime::max() : next_calc_;
  }

  void enqueue(JobId job, const ClusterState& state) override {
    leave(job, state);
    keys_[job] = key(job, state);
    OrderedScheduler::enqueue(job, state);
  }
  void ended(JobId job, const ClusterState& state) override { leave(job, state); }

  void schedule(ClusterState& state) override {
    if (state.now() >= next_calc_) { calculate(state); }
    if (settings_.preempt) { start_by_tier(state); }
    OrderedScheduler::schedule(state);
  }

 private:
  Turn turn(JobId job, const ClusterState& /*state*/) const override { return {keys_[job], job}; }

  void started(JobId job, const ClusterState& state) override {
    on_nodes_[job] = true;
    usage_.change(job, gpus_of(job, state), state.now());
  }

  void leave(JobId job, const ClusterState& state) {
    if (!on_nodes_[job]) { return; }
    on_nodes_[job] = false;
    usage_.change(job, -gpus_of(job, state), state.now());
  }

  static double gpus_of(JobId job, const ClusterState& state) {
    return static_cast<double>(gpu_milli_of(state.jobs().shape(job))) / Inventory::kWhole;
  }

  SlurmPartition partition(JobId job, const ClusterState& state) const {
    const std::string& name = state.jobs().name(state.job(job).queue);
    for (const SlurmPartition& each : settings_.partitions) {
      if (each.name == name) { return each; }
    }
    return {};
  }

  /// Falling tiers, falling priorities.
  std::int64_t key(JobId job, const ClusterState& state) const {
    const SlurmPartition& at = partition(job, state);
    const double age = settings_.max_age > WallTime::zero()
                           ? std::min(1.0, seconds(state.now() - state.job(job).submitted) / seconds(settings_.max_age))
                           : 1;
    const double large = std::min(1.0, gpus_of(job, state) / gpus_);
    const double priority = settings_.weight_age * age + settings_.weight_fair_share * usage_.factor(job) +
                            settings_.weight_job_size * (settings_.favor_small ? 1 - large : large) +
                            settings_.weight_partition * (static_cast<double>(at.job_factor) / most_factor_) +
                            state.job(job).priority;
    constexpr int kTierBits = 45;
    // A thousandth of a point tells apart who would otherwise be level.
    return -((std::int64_t{at.tier} << kTierBits) + static_cast<std::int64_t>(std::floor(priority * 1000)));
  }

  void calculate(ClusterState& state) {
    next_calc_ = state.now() - state.now() % settings_.calc_period + settings_.calc_period;
    usage_.advance(state.now());
    usage_.weigh();
    reorder(state, [&](JobId job) { keys_[job] = key(job, state); });
  }

  /// The first jobs, as long as each fits on what is free or what lower tiers have.
  void start_by_tier(ClusterState& state) {
    while (waiting() > 0) {
      const JobId job = first();
      if (!state.start(job) && !start_in_place_of(victims(job, state), job, state)) { return; }
      start_done(job, state);
    }
  }

  /// Running jobs of lower tiers: the lowest first, in a tier those that have run shortest.
  std::vector<JobId> victims(JobId job, const ClusterState& state) const {
    struct Victim {
      std::uint32_t tier;
      WallTime since;
      JobId job;
    };
    std::vector<Victim> found;
    const std::uint32_t tier = partition(job, state).tier;
    for (const RunningJob& running : state.running()) {
      const std::uint32_t lower = partition(running.job, state).tier;
      if (lower < tier) { found.push_back({lower, running.since, running.job}); }
    }
    std::sort(found.begin(), found.end(), [](const Victim& a, const Victim& b) {
      if (a.tier != b.tier) { return a.tier < b.tier; }
      return a.since != b.since ? a.since > b.since : a.job > b.job;
    });
    std::vector<JobId> jobs;
    for (const Victim& victim : found) { jobs.push_back(victim.job); }
    return jobs;
  }

  SlurmSettings settings_;
  double gpus_;
  std::uint32_t most_factor_ = 1;
  IdVector<JobId, std::int64_t> keys_;
  IdVector<JobId, std::uint8_t> on_nodes_;
  SlurmUsage usage_;
  WallTime next_calc_;
};

void check_partitions(Fields& fields, const SlurmSettings& settings) {
  std::set<std::string> names;
  for (const SlurmPartition& each : settings.partitions) {
    if (names.insert(each.name).second) { continue; }
    fields.problem("partitions", "conflict", fmt::format("there are two partitions '{}'", each.name),
                   "name each differently");
  }
  const auto any = [&](auto is) { return std::any_of(settings.partitions.begin(), settings.partitions.end(), is); };
  if (settings.weight_partition == 0 && any([](const SlurmPartition& each) { return each.job_factor != 1; })) {
    fields.problem("partitions", "no-effect", "a \"job_factor\" weighs nothing",
                   R"(write "weight_partition", or leave "job_factor" out)");
  }
  if (settings.preempt && !any([](const SlurmPartition& each) { return each.tier != 1; })) {
    fields.problem("preempt", "no-effect", "jobs of lower tiers lose their nodes, and all are of one",
                   R"(write a "tier" of "partitions", or leave it out)");
  }
}

/// What follows from shares and from what users have had.
void check_fair_share(Fields& fields, const SlurmSettings& settings) {
  std::set<std::pair<std::string, std::string>> who;
  for (const SlurmShares& each : settings.shares) {
    if (who.insert({each.account, each.user}).second) { continue; }
    fields.problem("shares", "conflict",
                   each.user.empty()
                       ? fmt::format("account '{}' has shares twice", each.account)
                       : fmt::format("user '{}' of account '{}' has shares twice", each.user, each.account),
                   "leave one of them out");
  }
  const bool tree = settings.fair_share == SlurmSettings::FairShare::tree;
  if (settings.weight_fair_share == 0 && (!settings.shares.empty() || !tree)) {
    fields.problem(tree ? "shares" : "fair_share", "no-effect", "what users have had weighs nothing",
                   R"(write "weight_fair_share", or leave it out)");
  }
  if (tree && settings.dampening != 1) {
    fields.problem("dampening", "no-effect", "only \"classic\" fair shares are dampened",
                   R"(write "fair_share": "classic", or leave it out)");
  }
}

void check(Fields& fields, const SlurmSettings& settings) {
  check_partitions(fields, settings);
  check_fair_share(fields, settings);
  if (settings.favor_small && settings.weight_job_size == 0) {
    fields.problem("favor_small", "no-effect", "the size of jobs weighs nothing",
                   R"(write "weight_job_size", or leave it out)");
  }
}

}  // namespace

struct Slurm final : SchedulerKind {
  static constexpr std::string_view kName = "slurm";
  static constexpr std::string_view kMeaning =
      "Slurm's priority/multifactor: age, fair share, size, partition, with backfill; partitions are the jobs' queues";
  SlurmSettings settings;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings.queue);
    fields.optional("weight_age", settings.weight_age, "PriorityWeightAge: of the time since submission over max_age");
    fields.optional("weight_fair_share", settings.weight_fair_share, "PriorityWeightFairshare: of what users have had");
    fields.optional("weight_job_size", settings.weight_job_size, "PriorityWeightJobSize: of the share of all GPUs");
    fields.optional("weight_partition", settings.weight_partition, "PriorityWeightPartition: of job_factor");
    fields.optional("max_age", settings.max_age, "PriorityMaxAge: older jobs are no more urgent; 0: all are as old");
    fields.optional("decay_half_life", settings.decay_half_life,
                    "PriorityDecayHalfLife: after that usage counts half; 0: it always counts in full");
    fields.optional("calc_period", settings.calc_period, "PriorityCalcPeriod: priorities are calculated so often",
                    {WallTime{1'000'000}});
    fields.optional("favor_small", settings.favor_small, "PriorityFavorSmall: small jobs have the larger size factor");
    fields.optional("fair_share", settings.fair_share, "How the fair share factor follows from shares and usage",
                    {{"tree", SlurmSettings::FairShare::tree}, {"classic", SlurmSettings::FairShare::classic}});
    fields.optional("dampening", settings.dampening, "FairShareDampeningFactor of \"classic\"", {1, 1'000});
    fields.optional("preempt", settings.preempt, "Jobs of lower tiers lose their nodes and wait again (REQUEUE)");
    fields.optional_list("partitions", settings.partitions, "All queues that jobs name; absent: all are alike",
                         [](Fields& f, SlurmPartition& partition) {
                           f.required("name", partition.name, "The queue of its jobs");
                           f.optional("job_factor", partition.job_factor, "PriorityJobFactor", {0, 65'533});
                           f.optional("tier", partition.tier, "PriorityTier: before all of lower ones", {0, 65'533});
                         });
    fields.optional_list("shares", settings.shares, "Who is entitled to more or less than 1 share",
                         [](Fields& f, SlurmShares& shares) {
                           f.required("account", shares.account, "The queue of its jobs");
                           f.optional("user", shares.user, "A user within it; absent: the account among accounts");
                           f.required("shares", shares.shares, "Among its like", {0, 1'000'000});
                         });
    if (fields.ok()) { check(fields, settings); }
  }
  Mistake refusal(const JobList& jobs, const NodeList& /*nodes*/) const override {
    if (settings.partitions.empty()) { return {}; }
    std::vector<std::string> known;
    for (const SlurmPartition& partition : settings.partitions) { known.push_back(partition.name); }
    for (const Job& job : jobs.jobs) {
      const std::string& queue = jobs.name(job.queue);
      if (queue.empty() || std::find(known.begin(), known.end(), queue) != known.end()) { continue; }
      return {"no-such-queue", fmt::format("there is no partition '{}', in which a job is", queue),
              fmt::format("partitions are {}; one of which only the name is said is as without", enumeration(known))};
    }
    return {};
  }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<SlurmScheduler>(settings, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Slurm>();

}  // namespace athanor
