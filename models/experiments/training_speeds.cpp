#include "models/experiments/training_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/check.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kRepetitions = 8;  // of the slowest of those that meet
constexpr std::size_t kPriorities = 8;     // of switches
constexpr std::uint32_t kShifts = 16;      // that are tried, of a step
constexpr std::size_t kMostMeetings = 1 << 16;
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
  since_[running.job] = {state.now(), ideal / seconds(active.place->training->alone()), ideal / seconds(active.beside)};
  return {Speed::of(ideal / seconds(active.step))};
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
    active_[running.job] = {running.job, &own, own.training->alone(), own.training->alone()};
  }
  if (rules_.links == ContentionRules::Links::shared) {
    std::vector<Active*> all;
    for (auto& [job, active] : active_) { all.push_back(&active); }
    const Together found = meet(all, {});
    for (std::size_t each = 0; each < all.size(); ++each) { all[each]->step = all[each]->beside = found.steps[each]; }
  }
  forget();
}

BesideStreams TrainingSpeeds::beside(const std::vector<LinkStream>& streams, const ClusterState& state) {
  if (seen_ != state.changes()) { look_at(state); }
  std::set<JobId> still;
  for (const LinkStream& stream : streams) {
    if (stream.stands_still) { still.insert(stream.job); }
  }
  std::vector<Active*> all;
  for (auto& [job, active] : active_) {
    active.beside = active.step;
    if (!still.contains(job)) { all.push_back(&active); }
  }
  Together found = meet(all, streams);
  BesideStreams beside{std::move(found.streams), {}};
  for (std::size_t each = 0; each < all.size(); ++each) {
    all[each]->beside = found.steps[each];
    if (all[each]->beside == all[each]->step) { continue; }
    beside.jobs[all[each]->job] = seconds(all[each]->step) / seconds(all[each]->beside);
  }
  forget();
  return beside;
}

TrainingSpeeds::Together TrainingSpeeds::meet(std::vector<Active*> all, const std::vector<LinkStream>& streams) {
  std::vector<const std::vector<LinkDemand>*> demands;
  for (const Active* each : all) { demands.push_back(&each->place->training->demand()); }
  std::vector<std::vector<LinkDemand>> of_streams;
  for (const LinkStream& stream : streams) {
    of_streams.emplace_back();
    for (const auto& [link, share] : stream.links) { of_streams.back().push_back({link, share}); }
  }
  for (const std::vector<LinkDemand>& each : of_streams) { demands.push_back(&each); }
  const LinkGroups by_links = groups_by_links(demands);
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
  for (std::uint32_t each = 0; each < demands.size(); ++each) { groups[by_links.of[each]].push_back(each); }

  Together met{{}, std::vector<double>(streams.size(), 1)};
  for (const Active* each : all) { met.steps.push_back(each->place->training->alone()); }
  for (auto& [number, members] : groups) {
    // Trainings first, in the order of their places.
    std::sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      const bool train = b < all.size() && a < all.size();
      return train ? all[a]->place->id < all[b]->place->id : a < b;
    });
    Group group;
    for (const std::uint32_t each : members) {
      if (each < all.size()) {
        group.trainings.push_back(all[each]);
      } else {
        group.streams.push_back(static_cast<std::uint32_t>(each - all.size()));
      }
    }
    if (members.size() < 2 || group.trainings.empty()) { continue; }
    const Together& found = meet(group, streams, by_links.links);
    for (std::size_t i = 0; i < group.trainings.size(); ++i) { met.steps[members[i]] = found.steps[i]; }
    for (std::size_t i = 0; i < group.streams.size(); ++i) { met.streams[group.streams[i]] = found.streams[i]; }
  }
  return met;
}

const TrainingSpeeds::Together& TrainingSpeeds::meet(const Group& group, const std::vector<LinkStream>& streams,
                                                     std::span<const std::uint32_t> links) {
  Meeting key;
  for (const Active* each : group.trainings) { key.first.push_back(each->place->id); }
  Streams shares;
  for (const std::uint32_t each : group.streams) {
    key.second.emplace_back();
    shares.emplace_back();
    for (const auto& [link, share] : streams[each].links) {
      if (!std::binary_search(links.begin(), links.end(), link)) { continue; }
      key.second.back().emplace_back(link, share);
      shares.back().push_back({link, share});
    }
  }
  const auto [found, fresh] = together_.try_emplace(std::move(key));
  if (fresh) {
    found->second = together(group.trainings, shares, links);
    ++simulated_;
  }
  return found->second;
}

TrainingSpeeds::Together TrainingSpeeds::together(const std::vector<Active*>& group, const Streams& streams,
                                                  std::span<const std::uint32_t> links) {
  std::vector<RepeatedStep> steps;
  for (const Active* each : group) {
    steps.push_back(each->place->training->beside_others(links));
    fresh_.push_back(each->place->training.get());
  }
  if (rules_.priorities == ContentionRules::Priorities::by_intensity) {
    for (std::size_t each = 0; each < group.size(); ++each) {
      const auto lower = std::count_if(group.begin(), group.end(), [&](const Active* other) {
        return other->place->training->intensity() < group[each]->place->training->intensity();
      });
      const std::size_t behind = streams.empty() ? 0 : 1;  // streams have the last class
      const std::size_t classes = kPriorities - behind;
      steps[each].priority =
          static_cast<std::uint32_t>(behind + static_cast<std::size_t>(lower) * classes / group.size());
    }
  }
  Together found = rules_.interleaved ? interleaved(steps, streams, group) : at_random(steps, streams, group);
  for (std::size_t each = 0; each < group.size(); ++each) {
    found.steps[each] = group[each]->place->training->with_stragglers(found.steps[each]);
  }
  return found;
}

/// The first one begins at once, the second in so many equal parts of its step, the others are drawn.
TrainingSpeeds::Together TrainingSpeeds::at_random(const std::vector<RepeatedStep>& steps, const Streams& streams,
                                                   const std::vector<Active*>& group) {
  const StepsSideBySide together(steps, streams);
  std::vector<Time> begins(group.size());
  RandomStream random(1, "phases of trainings");
  Together sums{std::vector<Time>(group.size()), std::vector<double>(streams.size())};
  const std::uint32_t draws = group.size() > 1 ? rules_.phases : 1;  // streams have no phase
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    for (std::size_t each = 1; each < group.size(); ++each) {
      const double part = each == 1 ? (draw + 0.5) / draws : static_cast<double>(random.bits() >> 11U) * 0x1p-53;
      begins[each] = part_of(group[each]->place->training->undelayed(), part);
    }
    const StepsSideBySide::Outcome outcome = together.run(begins, kRepetitions, stop_);
    for (std::size_t each = 0; each < group.size(); ++each) { sums.steps[each] += outcome.periods[each]; }
    for (std::size_t each = 0; each < streams.size(); ++each) { sums.streams[each] += outcome.streams[each] / draws; }
  }
  for (Time& sum : sums.steps) { sum = sum / static_cast<std::int64_t>(draws); }
  return sums;
}

/// One after the other takes the shift, of its own step, at which it and those before it are slowed down least.
TrainingSpeeds::Together TrainingSpeeds::interleaved(const std::vector<RepeatedStep>& steps, const Streams& streams,
                                                     const std::vector<Active*>& group) {
  if (group.size() < 2) { return at_random(steps, streams, group); }
  std::vector<Time> begins(1);
  StepsSideBySide::Outcome best;
  for (std::size_t each = 1; each < group.size(); ++each) {
    double least = INFINITY;
    Time chosen;
    begins.emplace_back();
    const StepsSideBySide together(std::span<const RepeatedStep>(steps).first(each + 1), streams);
    for (std::uint32_t shift = 0; shift < kShifts; ++shift) {
      begins.back() = part_of(group[each]->place->training->undelayed(), static_cast<double>(shift) / kShifts);
      StepsSideBySide::Outcome outcome = together.run(begins, kRepetitions, stop_);
      double slowdowns = 0;
      for (std::size_t i = 0; i <= each; ++i) {
        slowdowns += seconds(outcome.periods[i]) / seconds(group[i]->place->training->undelayed());
      }
      if (slowdowns >= least) { continue; }
      least = slowdowns;
      chosen = begins.back();
      best = std::move(outcome);
    }
    begins.back() = chosen;
  }
  return {std::move(best.periods), std::move(best.streams)};
}

/// Records of steps, and meetings and places that nobody trains at, once there are too many.
void TrainingSpeeds::forget() {
  for (PlacedTraining* each : fresh_) { each->forget_records(); }
  fresh_.clear();
  if (together_.size() > kMostMeetings) { together_.clear(); }
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
