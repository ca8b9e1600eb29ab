#include "models/jobs/schedulers/gavel/scheduler.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/placement/placement.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// The node of a type with the fewest free GPUs that has room for all of them, or else that with the most for any.
std::optional<NodeId> next_node(std::uint16_t type, const Demand& demand, std::uint32_t tasks,
                                const Inventory& inventory) {
  const auto with_room = [&](std::uint32_t free, std::uint32_t wanted) -> std::optional<NodeId> {
    for (auto node = inventory.next(type, free); node; node = inventory.next(type, free, NodeId{node->value + 1})) {
      if (inventory.room(*node, demand) >= wanted) { return node; }
    }
    return {};
  };
  const std::uint32_t most = inventory.most_gpus(type);
  for (std::uint32_t free = demand.gpus * tasks; free <= most; ++free) {
    if (const auto node = with_room(free, tasks)) { return node; }
  }
  for (std::uint32_t free = most + 1; free-- > demand.gpus;) {
    if (const auto node = with_room(free, 1)) { return node; }
  }
  return {};
}

/// Takes GPUs of one type for all tasks; none: they do not fit, and nothing is taken.
std::optional<Allocation> place_on(std::uint16_t type, const Shape& shape, Inventory& inventory) {
  Allocation where;
  for (std::uint32_t group = 0; group < shape.size(); ++group) {
    for (std::uint32_t left = shape[group].tasks; left > 0;) {
      const Demand& each = shape[group].each;
      const auto node = next_node(type, each, left, inventory);
      if (!node) {
        inventory.give_back(where, shape);
        return {};
      }
      const std::uint32_t here = std::min(left, inventory.room(*node, each));
      take_tasks(*node, group, each, here, inventory, where);
      left -= here;
    }
  }
  return where;
}

}  // namespace

GavelScheduler::GavelScheduler(const GavelSettings& settings, const JobList& jobs, const NodeList& nodes)
    : settings_(settings), jobs_(jobs), nodes_(nodes) {}

std::vector<double> GavelScheduler::speeds_of(const Job& job) const {
  const GpuSpeeds& known = jobs_.gpu_speeds()[job.gpu_speeds];
  const std::vector<std::string>& wanted = jobs_.gpu_types(jobs_.shape(job.shape).front().each.gpu_types);
  std::vector<double> speeds;
  for (const std::string& type : nodes_.gpu_types) {
    const bool may = wanted.empty() || std::find(wanted.begin(), wanted.end(), type) != wanted.end();
    const auto found = known.find(type);
    speeds.push_back(!may ? 0 : found == known.end() ? 1 : found->second);
  }
  return speeds;
}

std::uint32_t GavelScheduler::gpus_of(JobId job, const ClusterState& state) {
  return static_cast<std::uint32_t>(gpu_milli_of(state.jobs().shape(job)) / Inventory::kWhole);
}

void GavelScheduler::enqueue(JobId job, const ClusterState& state) {
  ++waiting_;
  const auto [at, fresh] = present_.try_emplace(job);
  at->second.type.reset();
  if (!fresh) { return; }  // it has lost its nodes, to others of this round or to a failure
  at->second.speeds = speeds_of(state.job(job));
  changed_ = true;
}

void GavelScheduler::ended(JobId job, const ClusterState& /*state*/) {
  changed_ = true;
  present_.erase(job);
}

void GavelScheduler::withdraw(JobId job, const ClusterState& /*state*/) {
  --waiting_;
  changed_ = true;
  present_.erase(job);
}

WallTime GavelScheduler::next_call(const ClusterState& /*state*/) const {
  return present_.empty() || idle_ ? WallTime::max() : called_ + settings_.round;
}

std::vector<std::uint32_t> GavelScheduler::gpus_by_type(const ClusterState& state) const {
  std::vector<std::uint32_t> gpus(nodes_.gpu_types.size());
  for (const NodeId node : nodes_.nodes.ids()) {
    if (state.inventory().is_open(node)) { gpus[nodes_.nodes[node].gpu_type] += nodes_.nodes[node].gpus; }
  }
  return gpus;
}

/// Received times begin anew with half a round each, so that who has had nothing yet comes by its share.
void GavelScheduler::share_out(const std::vector<std::uint32_t>& gpus, const ClusterState& state) {
  std::vector<GavelJob> jobs;
  for (const auto& [job, present] : present_) {
    jobs.push_back({gpus_of(job, state), present.speeds, std::max(1.0, seconds(state.remaining(job)))});
  }
  const std::vector<std::vector<double>> shares = gavel_shares(settings_.policy, jobs, gpus);
  std::size_t next = 0;
  for (auto& [job, present] : present_) {
    present.shares = shares[next++];
    present.received.assign(gpus.size(), seconds(settings_.round) / 2);
  }
  shared_ = gpus;
  changed_ = false;
}

void GavelScheduler::note_round(const ClusterState& state) {
  for (auto& [job, present] : present_) {
    if (!present.type || !state.is_running(job)) { continue; }
    if (!present.received.empty()) { present.received[*present.type] += seconds(state.now() - called_); }
  }
}

/// The part of the time on a type that a job should have had over the part that it has had, the largest first.
std::vector<GavelScheduler::Pick> GavelScheduler::picks() const {
  std::vector<double> all(nodes_.gpu_types.size());
  for (const auto& [job, present] : present_) {
    for (std::size_t type = 0; type < all.size(); ++type) { all[type] += present.received[type]; }
  }
  std::vector<Pick> picks;
  for (const auto& [job, present] : present_) {
    for (std::uint16_t type = 0; type < all.size(); ++type) {
      if (present.shares[type] <= 0) { continue; }
      picks.push_back({present.shares[type] * all[type] / present.received[type], job, type});
    }
  }
  std::stable_sort(picks.begin(), picks.end(), [](const Pick& a, const Pick& b) { return a.priority > b.priority; });
  return picks;
}

std::map<JobId, std::uint16_t> GavelScheduler::chosen(std::vector<std::uint32_t> gpus,
                                                      const ClusterState& state) const {
  std::map<JobId, std::uint16_t> chosen;
  for (const Pick& pick : picks()) {
    const std::uint32_t wanted = gpus_of(pick.job, state);
    if (wanted > gpus[pick.type] || chosen.contains(pick.job)) { continue; }
    chosen.emplace(pick.job, pick.type);
    gpus[pick.type] -= wanted;
  }
  return chosen;
}

void GavelScheduler::schedule(ClusterState& state) {
  note_round(state);
  called_ = state.now();
  const std::vector<std::uint32_t> gpus = gpus_by_type(state);
  if (present_.empty()) { return; }
  if (changed_ || gpus != shared_) { share_out(gpus, state); }
  const std::map<JobId, std::uint16_t> next = chosen(gpus, state);
  for (auto& [job, present] : present_) {
    const auto found = next.find(job);
    const bool stays = found != next.end() && present.type == found->second;
    if (!state.is_running(job) || stays) { continue; }
    state.stop(job);
  }
  std::vector<JobId> starting;
  for (const auto& [job, type] : next) {
    if (!state.is_running(job)) { starting.push_back(job); }
  }
  std::stable_sort(starting.begin(), starting.end(),
                   [&](JobId a, JobId b) { return gpus_of(a, state) > gpus_of(b, state); });
  for (const JobId job : starting) {
    auto where = place_on(next.at(job), state.jobs().shape(job), state.inventory());
    if (!where) { continue; }
    state.start(job, std::move(*where));
    present_[job].type = next.at(job);
    --waiting_;
  }
  idle_ = state.running().empty();
}

std::string GavelScheduler::reason(JobId job, const ClusterState& state) const {
  const auto found = present_.find(job);
  std::string shares;
  for (std::size_t type = 0; found != present_.end() && type < found->second.shares.size(); ++type) {
    shares += fmt::format("{}{:.0f} % of the time on {}", type == 0 ? "" : ", ", 100 * found->second.shares[type],
                          nodes_.gpu_types[type]);
  }
  return fmt::format("waits for {} GPUs until its next round: {}", gpus_of(job, state),
                     shares.empty() ? "it has come since the last one" : shares);
}

}  // namespace athanor
