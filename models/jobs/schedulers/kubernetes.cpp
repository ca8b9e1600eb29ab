#include <algorithm>
#include <compare>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

/// Where a job's tasks stand among those that wait.
struct PodTurn {
  std::int64_t priority = 0;  ///< negated: the lower first
  WallTime created;           ///< jobs of one instant take turns, task by task
  JobId job;

  auto operator<=>(const PodTurn&) const = default;
};

/// Tasks of all jobs, each for itself: what is placed is held, whether the rest of its job ever fits or not.
class KubernetesScheduler final : public Scheduler {
 public:
  KubernetesScheduler(WallTime timeout, const JobList& jobs) : timeout_(timeout), pods_(jobs.size()) {
    std::set<Demand> kinds;
    for (std::uint32_t shape = 0; shape < jobs.shapes(); ++shape) {
      for (const TaskGroup& group : jobs.shape(ShapeId{shape})) { kinds.insert(group.each); }
    }
    kinds_ = kinds.size();
  }

  void enqueue(JobId job, const ClusterState& state) override { await_turn(job, incomplete_.erase(job) > 0, state); }
  void ended(JobId job, const ClusterState& state) override {
    if (incomplete_.erase(job) > 0) { withdraw(job, state); }
    idle_timeouts_ = 0;
  }

  /// Others are created in their place, and wait.
  bool lost_tasks(JobId job, const Allocation& /*lost*/, const ClusterState& state) override {
    await_turn(job, !incomplete_.insert(job).second, state);
    return false;
  }

  /// What the job holds is given back when it is next called.
  void withdraw(JobId job, const ClusterState& /*state*/) override {
    waiting_.erase(pods_[job].turn);
    if (!pods_[job].held.empty()) { withdrawn_.push_back(job); }
  }

  void schedule(ClusterState& state) override {
    for (const JobId job : withdrawn_) { give_back(job, state); }
    withdrawn_.clear();
    give_back_lost(state);
    place_all(state);
    while (const JobId* late = latest_late(state)) {
      const JobId job = *late;
      give_back(job, state);
      waiting_.erase(pods_[job].turn);
      pods_[job].turn.created = state.now();
      waiting_.insert(pods_[job].turn);
      ++idle_timeouts_;
      place_all(state);
    }
  }

  WallTime next_call(const ClusterState& state) const override {
    // When nothing works, and every job has given back what it held in vain, none will ever start.
    const bool nothing_works = state.running().size() == incomplete_.size();
    if (timeout_ == WallTime::zero() || (nothing_works && idle_timeouts_ > waiting_.size())) { return WallTime::max(); }
    WallTime next = WallTime::max();
    for (const JobId job : holders_) { next = std::min(next, pods_[job].since + timeout_); }
    return next;
  }

  std::size_t waiting() const override { return waiting_.size() - incomplete_.size(); }

  std::string reason(JobId job, const ClusterState& state) const override {
    std::string text = fmt::format("has {}", share_text(job, state));
    std::size_t named = 0;
    for (const JobId other : holders_) {
      if (other == job) { continue; }
      constexpr std::size_t kNamed = 3;
      if (named == kNamed) { return text + ", and others"; }
      text += fmt::format("{} {} holds {}", named == 0 ? ", while" : ",", state.jobs().title(other),
                          share_text(other, state));
      ++named;
    }
    if (named == 0 && state.running().empty()) { text += ", and the others fit nowhere"; }
    return text;
  }

 private:
  struct Pods {
    PodTurn turn;
    std::vector<std::uint32_t> placed;  ///< of each group, with those that run
    Allocation held;
    WallTime since;  ///< it holds something
  };

  std::string share_text(JobId job, const ClusterState& state) const {
    std::uint32_t tasks = 0;
    for (const TaskGroup& group : state.jobs().shape(job)) { tasks += group.tasks; }
    std::uint32_t placed = 0;
    std::uint32_t gpus = 0;
    const auto add = [&](const Allocation& where) {
      for (const NodeShare& share : where) {
        placed += share.tasks;
        gpus += share.gpus.count();
      }
    };
    add(pods_[job].held);
    if (state.is_running(job)) { add(state.running(job).where); }
    return fmt::format("{} of {} tasks on nodes, with {} GPUs", placed, tasks, gpus);
  }

  /// Tasks that have no places wait, with others of the job that do already where it `waits`.
  void await_turn(JobId job, bool waits, const ClusterState& state) {
    count_placed(job, state);
    idle_timeouts_ = 0;
    if (waits) { return; }
    pods_[job].turn = {-std::int64_t{state.job(job).priority}, state.now(), job};
    waiting_.insert(pods_[job].turn);
  }

  void count_placed(JobId job, const ClusterState& state) {
    Pods& pods = pods_[job];
    pods.placed.assign(state.jobs().shape(job).size(), 0);
    for (const NodeShare& share : pods.held) { pods.placed[share.group] += share.tasks; }
    if (!state.is_running(job)) { return; }
    for (const NodeShare& share : state.running(job).where) { pods.placed[share.group] += share.tasks; }
  }

  /// Tasks in their order; those of jobs of one turn alternate.
  void place_all(ClusterState& state) {
    std::set<Demand> unfit;
    for (auto begin = waiting_.begin(); begin != waiting_.end() && unfit.size() < kinds_;) {
      auto end = begin;
      std::vector<JobId> level;
      for (; end != waiting_.end() && end->priority == begin->priority && end->created == begin->created; ++end) {
        level.push_back(end->job);
      }
      begin = end;
      take_turns(level, unfit, state);
    }
  }

  void take_turns(std::vector<JobId>& level, std::set<Demand>& unfit, ClusterState& state) {
    while (!level.empty() && unfit.size() < kinds_) {
      std::erase_if(level, [&](JobId job) { return !place_one(job, unfit, state) || start_if_whole(job, state); });
    }
  }

  /// False: none of its tasks fits.
  bool place_one(JobId job, std::set<Demand>& unfit, ClusterState& state) {
    Pods& pods = pods_[job];
    const Shape& shape = state.jobs().shape(job);
    for (std::uint32_t group = 0; group < shape.size(); ++group) {
      const Demand& each = shape[group].each;
      if (pods.placed[group] == shape[group].tasks || unfit.contains(each)) { continue; }
      auto where = state.placement().place({{1, each}}, state.inventory());
      if (!where) {
        unfit.insert(each);
        continue;
      }
      for (NodeShare share : *where) {
        share.group = group;
        pods.held.push_back(share);
      }
      ++pods.placed[group];
      if (holders_.insert(job).second) { pods.since = state.now(); }
      return true;
    }
    return false;
  }

  bool start_if_whole(JobId job, ClusterState& state) {
    const Shape& shape = state.jobs().shape(job);
    for (std::uint32_t group = 0; group < shape.size(); ++group) {
      if (pods_[job].placed[group] < shape[group].tasks) { return false; }
    }
    Allocation held = std::exchange(pods_[job].held, {});
    if (incomplete_.erase(job) > 0) {
      state.add(job, std::move(held));
    } else {
      state.start(job, std::move(held));
    }
    holders_.erase(job);
    waiting_.erase(pods_[job].turn);
    idle_timeouts_ = 0;
    return true;
  }

  void give_back(JobId job, ClusterState& state) {
    state.inventory().give_back(pods_[job].held, state.jobs().shape(job));
    pods_[job].held.clear();
    count_placed(job, state);
    holders_.erase(job);
  }

  /// Tasks on nodes that have failed or are drained wait again.
  void give_back_lost(ClusterState& state) {
    if (surprises_ == state.surprises()) { return; }
    surprises_ = state.surprises();
    for (const JobId job : holders_) {
      Pods& pods = pods_[job];
      std::erase_if(pods.held, [&](const NodeShare& share) {
        if (state.inventory().is_open(share.node)) { return false; }
        state.inventory().give_back(share, state.jobs().shape(job)[share.group].each);
        pods.placed[share.group] -= share.tasks;
        return true;
      });
    }
    std::erase_if(holders_, [&](JobId job) { return pods_[job].held.empty(); });
  }

  /// Of those that have held nodes too long the one that began last; none: nullptr.
  const JobId* latest_late(const ClusterState& state) const {
    if (timeout_ == WallTime::zero()) { return nullptr; }
    const JobId* found = nullptr;
    for (const JobId& job : holders_) {
      if (state.now() - pods_[job].since < timeout_) { continue; }
      if (found == nullptr || pods_[*found].since <= pods_[job].since) { found = &job; }
    }
    return found;
  }

  WallTime timeout_;
  std::size_t kinds_ = 0;  ///< of tasks in the whole list
  IdVector<JobId, Pods> pods_;
  std::set<PodTurn> waiting_;
  std::set<JobId> holders_;     ///< jobs that hold something and do not run with it
  std::set<JobId> incomplete_;  ///< jobs that run, but for tasks that they have lost
  std::vector<JobId> withdrawn_;
  std::uint64_t idle_timeouts_ = 0;  ///< since anything has changed
  std::uint64_t surprises_ = 0;
};

}  // namespace

struct Kubernetes final : SchedulerKind {
  static constexpr std::string_view kName = "kubernetes";
  static constexpr std::string_view kMeaning =
      "the default scheduler of Kubernetes: tasks are placed one by one and hold what they have until all of a job are";
  WallTime gang_timeout;

  void visit(Fields& fields) override {
    fields.optional("gang_timeout", gang_timeout,
                    "A job that has held nodes so long and is not whole gives them back and is last again; 0: never",
                    {.most = WallTime{31'536'000'000'000}});
  }
  bool places_lost_tasks() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return std::make_unique<KubernetesScheduler>(gang_timeout, jobs);
  }
};

template SchedulerEntry scheduler_entry_of<Kubernetes>();

}  // namespace athanor
