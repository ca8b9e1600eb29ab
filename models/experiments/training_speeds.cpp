#include "models/experiments/training_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/check.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kRepetitions = 8;         // of the slowest of those that meet
constexpr std::size_t kPriorities = 8;            // of switches
constexpr std::uint32_t kShifts = 16;             // that are tried, of a step
constexpr std::size_t kMostRemembered = 1 << 26;  // numbers, some 16 bytes each

/// Of time that is rounded to microseconds only where jobs end.
WallTime wall(Time step, std::uint64_t steps) {
  const Wide picoseconds = Wide{step.count()} * static_cast<Wide>(steps);
  constexpr std::int64_t kMicrosecond = 1'000'000;
  const Wide microseconds = (picoseconds + kMicrosecond - 1) / kMicrosecond;
  require(microseconds <= INT64_MAX, "{} steps of {} s", steps, seconds(step));
  return WallTime{static_cast<std::int64_t>(microseconds)};
}

Time part_of(Time whole, double share) {
  return Time{static_cast<std::int64_t>(static_cast<double>(whole.count()) * share)};
}

}  // namespace

TrainingSpeeds::TrainingSpeeds(Trainings trainings, std::vector<JobActivity> activities,
                               IdVector<NodeId, std::vector<std::uint32_t>> endpoints, ContentionRules rules,
                               std::unique_ptr<SpeedModel> others, const Platform& platform, const RunOptions& options)
    : trainings_(std::move(trainings)),
      activities_(std::move(activities)),
      endpoints_(std::move(endpoints)),
      rules_(rules),
      others_(std::move(others)),
      stop_(options.stop),
      timer_(trainings_.at(0)->pricing(platform, options)) {
  for (const auto& each : trainings_) { workloads_.push_back(workload_of(each->training().setup)); }
}

void TrainingSpeeds::set_durations(JobList& jobs) {
  for (Job& job : jobs.jobs) {
    if (job.activity.value == 0) { continue; }
    const JobActivity& activity = activities_.at(job.activity.value - 1);
    if (activity.steps == 0) { continue; }
    job.duration = wall(best(activity.training), activity.steps);
    if (job.expected == WallTime::max()) { job.expected = job.duration; }
  }
}

std::vector<std::uint32_t> TrainingSpeeds::endpoints_of(const Allocation& where) const {
  std::map<NodeId, GpuSet> by_node;
  for (const NodeShare& share : where) { by_node[share.node] = by_node[share.node] | share.gpus; }
  std::vector<std::uint32_t> endpoints;
  for (const auto& [node, gpus] : by_node) {
    for (std::uint32_t gpu = 0; gpu < endpoints_[node].size(); ++gpu) {
      if (gpus.has(gpu)) { endpoints.push_back(endpoints_[node][gpu]); }
    }
  }
  return endpoints;
}

TrainingSpeeds::Place& TrainingSpeeds::place(std::uint32_t training, const std::vector<std::uint32_t>& endpoints) {
  const auto [found, fresh] = places_.try_emplace({training, endpoints});
  if (!fresh) { return found->second; }
  try {
    found->second.id = next_place_++;
    found->second.training = std::make_unique<PlacedTraining>(trainings_[training]->training(), workloads_[training],
                                                              endpoints, timer_, stop_);
  } catch (...) {
    places_.erase(found);
    throw;
  }
  fresh_.push_back(found->second.training.get());
  remembered_ += found->second.training->remembered();
  if (timer_.remembered() > kMostRemembered) { timer_.forget(); }
  return found->second;
}

TrainingSpeeds::Place& TrainingSpeeds::place(std::uint32_t training, const Allocation& where) {
  return place(training, endpoints_of(where));
}

TrainingSpeeds::LinkUse TrainingSpeeds::link_use(ActivityId activity, const Allocation& where) {
  require(activity.value > 0, "links of a job that does not train");
  const PlacedTraining& placed = *place(activities_.at(activity.value - 1).training, where).training;
  return {seconds(placed.alone()), placed.busy_seconds()};
}

Time TrainingSpeeds::best(std::uint32_t training) {
  const auto known = best_.find(training);
  if (known != best_.end()) { return known->second; }
  std::vector<std::uint32_t> first;
  const std::uint32_t ranks = trainings_[training]->training().setup.plan.ranks();
  for (const auto& node : endpoints_) { first.insert(first.end(), node.begin(), node.end()); }
  require(first.size() >= ranks, "{} ranks on {} endpoints", ranks, first.size());
  first.resize(ranks);
  return best_[training] = place(training, first).training->alone();
}

JobPace TrainingSpeeds::pace(const RunningJob& running, WallTime done, const ClusterState& state) {
  const ActivityId activity = state.job(running.job).activity;
  if (activity.value == 0) { return others_->pace(running, done, state); }
  if (seen_ != state.changes()) { look_at(state); }
  const std::uint32_t training = activities_.at(activity.value - 1).training;
  const double ideal = seconds(best(training));
  const Active& active = active_.at(running.job);
  account(running.job, state.now());
  since_[running.job] = {state.now(), ideal / seconds(active.place->training->alone()), ideal / seconds(active.step)};
  return {Speed::of(since_[running.job].now)};
}

/// What it did since it was last asked for.
void TrainingSpeeds::account(JobId job, WallTime now) {
  const auto found = since_.find(job);
  if (found == since_.end()) { return; }
  const Since& since = found->second;
  const double span = seconds(now - since.when);
  TrainingPace& pace = paces_[job];
  pace.time += span;
  pace.best += span * since.now;
  pace.alone += span * since.now / since.alone;
}

void TrainingSpeeds::stopped(JobId job, WallTime done, WallTime now) {
  others_->stopped(job, done, now);
  account(job, now);
  since_.erase(job);
}

/// Who trains where at present, and how long steps take there.
void TrainingSpeeds::look_at(const ClusterState& state) {
  seen_ = state.changes();
  active_.clear();
  for (const RunningJob& running : state.running()) {
    const ActivityId activity = state.job(running.job).activity;
    if (activity.value == 0 || running.stalled) { continue; }
    Place& own = place(activities_.at(activity.value - 1).training, running.where);
    active_[running.job] = {running.job, &own, own.training->alone()};
  }
  if (rules_.links == ContentionRules::Links::ignored) { return forget(); }
  std::vector<Active*> all;
  std::vector<const std::vector<LinkDemand>*> demands;
  for (auto& [job, active] : active_) {
    all.push_back(&active);
    demands.push_back(&active.place->training->demand());
  }
  std::map<std::uint32_t, std::vector<Active*>> groups;
  const LinkGroups by_links = groups_by_links(demands);
  for (std::size_t each = 0; each < all.size(); ++each) { groups[by_links.of[each]].push_back(all[each]); }
  for (auto& [number, group] : groups) {
    if (group.size() > 1) { meet(std::move(group), by_links.links); }
  }
  forget();
}

void TrainingSpeeds::meet(std::vector<Active*> group, std::span<const std::uint32_t> links) {
  std::sort(group.begin(), group.end(), [](const Active* a, const Active* b) { return a->place->id < b->place->id; });
  std::vector<PlaceId> key;
  for (const Active* each : group) { key.push_back(each->place->id); }
  const auto [found, fresh] = together_.try_emplace(std::move(key));
  if (fresh) {
    found->second = together(group, links);
    ++simulated_;
  }
  for (std::size_t each = 0; each < group.size(); ++each) { group[each]->step = found->second[each]; }
}

std::vector<Time> TrainingSpeeds::together(const std::vector<Active*>& group, std::span<const std::uint32_t> links) {
  std::vector<RepeatedStep> steps;
  for (const Active* each : group) { steps.push_back(each->place->training->beside_others(links)); }
  if (rules_.priorities == ContentionRules::Priorities::by_intensity) {
    for (std::size_t each = 0; each < group.size(); ++each) {
      const auto lower = std::count_if(group.begin(), group.end(), [&](const Active* other) {
        return other->place->training->intensity() < group[each]->place->training->intensity();
      });
      steps[each].priority = static_cast<std::uint32_t>(static_cast<std::size_t>(lower) * kPriorities / group.size());
    }
  }
  std::vector<Time> periods = rules_.interleaved ? interleaved(steps, group) : at_random(steps, group);
  for (std::size_t each = 0; each < group.size(); ++each) {
    periods[each] = group[each]->place->training->with_stragglers(periods[each]);
  }
  return periods;
}

/// The first one begins at once, the second in so many equal parts of its step, the others are drawn.
std::vector<Time> TrainingSpeeds::at_random(const std::vector<RepeatedStep>& steps, const std::vector<Active*>& group) {
  const StepsSideBySide together(steps);
  std::vector<Time> begins(group.size());
  RandomStream random(1, "phases of trainings");
  std::vector<Time> sums(group.size());
  for (std::uint32_t draw = 0; draw < rules_.phases; ++draw) {
    for (std::size_t each = 1; each < group.size(); ++each) {
      const double part =
          each == 1 ? (draw + 0.5) / rules_.phases : static_cast<double>(random.bits() >> 11U) * 0x1p-53;
      begins[each] = part_of(group[each]->place->training->undelayed(), part);
    }
    const std::vector<Time> periods = together.periods(begins, kRepetitions, stop_);
    for (std::size_t each = 0; each < group.size(); ++each) { sums[each] += periods[each]; }
  }
  for (Time& sum : sums) { sum = sum / static_cast<std::int64_t>(rules_.phases); }
  return sums;
}

/// One after the other takes the shift, of its own step, at which it and those before it are slowed down least.
std::vector<Time> TrainingSpeeds::interleaved(const std::vector<RepeatedStep>& steps,
                                              const std::vector<Active*>& group) {
  std::vector<Time> begins(1);
  std::vector<Time> best;
  for (std::size_t each = 1; each < group.size(); ++each) {
    double least = INFINITY;
    Time chosen;
    begins.emplace_back();
    const StepsSideBySide together{std::span<const RepeatedStep>(steps).first(each + 1)};
    for (std::uint32_t shift = 0; shift < kShifts; ++shift) {
      begins.back() = part_of(group[each]->place->training->undelayed(), static_cast<double>(shift) / kShifts);
      std::vector<Time> periods = together.periods(begins, kRepetitions, stop_);
      double slowdowns = 0;
      for (std::size_t i = 0; i <= each; ++i) {
        slowdowns += seconds(periods[i]) / seconds(group[i]->place->training->undelayed());
      }
      if (slowdowns >= least) { continue; }
      least = slowdowns;
      chosen = begins.back();
      best = std::move(periods);
    }
    begins.back() = chosen;
  }
  return best;
}

/// Records of steps, and places that nobody trains at, once there are too many.
void TrainingSpeeds::forget() {
  for (PlacedTraining* each : fresh_) { each->forget_records(); }
  fresh_.clear();
  if (remembered_ <= kMostRemembered) { return; }
  std::set<PlaceId> used;
  for (const auto& [job, active] : active_) { used.insert(active.place->id); }
  remembered_ = 0;
  for (auto it = places_.begin(); it != places_.end();) {
    if (!used.contains(it->second.id)) {
      it = places_.erase(it);
      continue;
    }
    remembered_ += it->second.training->remembered();
    ++it;
  }
}

}  // namespace athanor
