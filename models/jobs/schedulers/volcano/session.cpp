#include "models/jobs/schedulers/volcano/session.hpp"

#include <algorithm>

#include "models/jobs/schedulers/volcano/amounts.hpp"
#include "models/jobs/schedulers/volcano/node_scores.hpp"
#include "models/jobs/task_count.hpp"

namespace athanor {

Inventory& VolcanoSession::future() {
  if (!future_) { future_ = state_.inventory(); }
  return *future_;
}

bool VolcanoSession::scores_differ(const Demand& demand) const {
  const auto* binpack = settings_.use_of(VolcanoPlugin::binpack);
  const bool counts_gpus = binpack != nullptr && binpack->binpack.gpus > 0;
  if (preemptible_ && !zones_.is_empty()) { return true; }
  return nodes_have_limits_ || (counts_gpus && (demand.gpus > 0 || demand.gpu_milli > 0));
}

std::uint32_t VolcanoSession::room(NodeId node, const Demand& demand) const {
  if (!admits(node)) { return 0; }
  const std::uint32_t now = state_.inventory().room(node, demand);
  return future_ && now > 0 ? std::min(now, future_->room(node, demand)) : now;
}

bool VolcanoSession::has_room_for_all(const TaskGroup& group) const {
  const Inventory& inventory = future_ ? *future_ : state_.inventory();
  if (!future_ && std::uint64_t{group.each.gpus} * group.tasks > inventory.free_gpus()) { return false; }
  std::uint64_t room = 0;
  for (const NodeId node : inventory.nodes().nodes.ids()) {
    if (admits(node)) { room += inventory.room(node, group.each); }
    if (room >= group.tasks) { return true; }
  }
  return false;
}

TasksPlaced VolcanoSession::place(const Shape& shape, bool preemptible, bool whole) {
  preemptible_ = preemptible;
  if (whole && !std::all_of(shape.begin(), shape.end(), [&](const auto& each) { return has_room_for_all(each); })) {
    return {};
  }
  if (!settings_.scores_nodes()) { return place_by_policy(shape, whole); }
  TasksPlaced placed;
  // Tasks that ask for nothing fit on any node, and are placed last.
  for (const bool last : {false, true}) {
    for (std::uint32_t group = 0; group < shape.size(); ++group) {
      if (asks_for_nothing(shape[group].each) != last) { continue; }
      place_group(group, shape[group], placed);
    }
  }
  if (!whole || placed.tasks == tasks_of(shape)) { return placed; }
  discard(placed, shape);
  return {};
}

TasksPlaced VolcanoSession::place_by_policy(const Shape& shape, bool whole) {
  TasksPlaced placed;
  if (whole) {
    auto where = state_.placement().place(shape, state_.inventory());
    if (!where) { return {}; }
    placed.on_free = std::move(*where);
    placed.tasks = tasks_of(shape);
    return placed;
  }
  for (std::uint32_t group = 0; group < shape.size(); ++group) {
    for (std::uint32_t task = 0; task < shape[group].tasks; ++task) {
      auto where = state_.placement().place({{1, shape[group].each}}, state_.inventory());
      if (!where) { break; }
      where->front().group = group;
      placed.on_free.push_back(where->front());
      ++placed.tasks;
    }
  }
  return placed;
}

void VolcanoSession::place_group(std::uint32_t group, const TaskGroup& tasks, TasksPlaced& placed) {
  const bool by_score = scores_differ(tasks.each);
  std::uint32_t done = by_score ? fill_by_score(group, tasks, false, placed) : fill_in_order(group, tasks, placed);
  if (done == tasks.tasks || !future_) { return; }
  done += fill_by_score(group, {tasks.tasks - done, tasks.each}, true, placed);
}

std::uint32_t VolcanoSession::fill_in_order(std::uint32_t group, const TaskGroup& tasks, TasksPlaced& placed) {
  std::uint32_t done = 0;
  for (const NodeId node : state_.inventory().nodes().nodes.ids()) {
    const std::uint32_t here = std::min(room(node, tasks.each), tasks.tasks - done);
    for (std::uint32_t task = 0; task < here; ++task) { take(node, group, tasks.each, false, placed); }
    done += here;
    if (done == tasks.tasks) { break; }
  }
  return done;
}

std::uint32_t VolcanoSession::fill_by_score(std::uint32_t group, const TaskGroup& tasks, bool of_future,
                                            TasksPlaced& placed) {
  const Inventory& free = state_.inventory();
  const auto look_at = [&](NodeId node) {
    Candidate& candidate = candidates_[node.value];
    const auto room_then = [&] { return admits(node) ? future_->room(node, tasks.each) : 0; };
    candidate.fits = (of_future ? room_then() : room(node, tasks.each)) > 0;
    if (candidate.fits) { candidate.score = score(tasks.each, node); }
  };
  candidates_.assign(free.nodes().count(), {});
  for (const NodeId node : free.nodes().nodes.ids()) { look_at(node); }
  std::uint32_t done = 0;
  for (; done < tasks.tasks; ++done) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t node = 0; node < candidates_.size(); ++node) {
      if (candidates_[node].fits && (!best || candidates_[node].score > candidates_[*best].score)) { best = node; }
    }
    if (!best) { break; }
    take(NodeId{*best}, group, tasks.each, of_future, placed);
    look_at(NodeId{*best});
  }
  return done;
}

void VolcanoSession::take(NodeId node, std::uint32_t group, const Demand& demand, bool of_future, TasksPlaced& placed) {
  ++placed.tasks;
  if (future_) {
    placed.in_future.push_back(future_->share(node, group, demand, 1));
    future_->take(placed.in_future.back(), demand);
  }
  if (of_future) {
    ++placed.pipelined;
    return;
  }
  const NodeShare share = state_.inventory().share(node, group, demand, 1);
  state_.inventory().take(share, demand);
  const bool joins = !placed.on_free.empty() && demand.gpu_milli == 0 && placed.on_free.back().node == node &&
                     placed.on_free.back().group == group;
  if (!joins) { return placed.on_free.push_back(share); }
  ++placed.on_free.back().tasks;
  placed.on_free.back().gpus = placed.on_free.back().gpus | share.gpus;
  placed.on_free.back().nics = placed.on_free.back().nics | share.nics;
}

void VolcanoSession::discard(const TasksPlaced& placed, const Shape& shape) {
  state_.inventory().give_back(placed.on_free, shape);
  if (future_) { future_->give_back(placed.in_future, shape); }
}

/// tdm sends preemptible jobs to revocable nodes first.
double VolcanoSession::score(const Demand& demand, NodeId node) const {
  constexpr double kRevocable = 100;
  const bool prefers = preemptible_ && zones_.is_open(node, state_.now());
  return node_score(demand, node, state_.inventory(), settings_) + (prefers ? kRevocable : 0);
}

std::vector<NodeId> VolcanoSession::by_score(const Demand& demand, bool preemptible) {
  preemptible_ = preemptible;
  const Inventory& free = state_.inventory();
  std::vector<std::pair<double, NodeId>> scored;
  for (const NodeId node : free.nodes().nodes.ids()) {
    if (free.is_open(node) && admits(node)) { scored.emplace_back(score(demand, node), node); }
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<NodeId> nodes;
  for (const auto& [score, node] : scored) { nodes.push_back(node); }
  return nodes;
}

}  // namespace athanor
