#include "models/jobs/schedulers/gavel/scheduler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/jobs/placement/placement.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

/// So many millionths of a span.
WallTime part_of(WallTime span, std::int64_t millionths) {
  return WallTime{static_cast<std::int64_t>(Wide{span.count()} * millionths / kMillion)};
}

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

std::vector<bool> types_that_fit(const Shape& shape, Inventory& empty) {
  std::vector<bool> fits;
  for (std::uint16_t type = 0; type < empty.nodes().gpu_types.size(); ++type) {
    const auto where = place_on(type, shape, empty);
    fits.push_back(where.has_value());
    if (where) { empty.give_back(*where, shape); }
  }
  return fits;
}

GavelScheduler::GavelScheduler(const GavelSettings& settings, const JobList& jobs, const NodeList& nodes)
    : settings_(settings), jobs_(jobs), nodes_(nodes), empty_(nodes, jobs) {}

std::vector<double> GavelScheduler::speeds_of(const Job& job) {
  const GpuSpeeds& known = jobs_.gpu_speeds()[job.gpu_speeds];
  const auto [fits, fresh] = fits_.try_emplace(job.shape);
  if (fresh) { fits->second = types_that_fit(jobs_.shape(job.shape), empty_); }
  std::vector<double> speeds;
  for (std::size_t type = 0; type < nodes_.gpu_types.size(); ++type) {
    const auto found = known.find(nodes_.gpu_types[type]);
    speeds.push_back(!fits->second[type] ? 0 : found == known.end() ? 1 : found->second);
  }
  return speeds;
}

std::uint32_t GavelScheduler::gpus_of(JobId job, const ClusterState& state) {
  return static_cast<std::uint32_t>(gpu_milli_of(state.jobs().shape(job)) / Inventory::kWhole);
}

/// A job that schedule() has stopped is counted there.
void GavelScheduler::enqueue(JobId job, const ClusterState& state) {
  const auto [at, fresh] = present_.try_emplace(job);
  if (fresh || at->second.type) { ++waiting_; }
  at->second.type.reset();
  if (!fresh) { return; }
  at->second.speeds = speeds_of(state.job(job));
  at->second.shares.resize(nodes_.gpu_types.size());
  at->second.owed.resize(nodes_.gpu_types.size());
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

void GavelScheduler::share_out(const std::vector<std::uint32_t>& gpus, const ClusterState& state) {
  std::vector<GavelJob> jobs;
  for (const auto& [job, present] : present_) {
    jobs.push_back({gpus_of(job, state), present.speeds, std::max(1.0, seconds(state.remaining(job)))});
  }
  const std::vector<std::vector<double>> shares = gavel_shares(settings_.policy, jobs, gpus);
  std::size_t next = 0;
  for (auto& [job, present] : present_) {
    const std::vector<double>& own = shares[next++];
    for (std::size_t type = 0; type < own.size(); ++type) { present.shares[type] = std::llround(own[type] * kMillion); }
  }
  gpus_when_shared_ = gpus;
  changed_ = false;
}

void GavelScheduler::note_round(const ClusterState& state) {
  const WallTime passed = state.now() - called_;
  for (auto& [job, present] : present_) {
    for (std::size_t type = 0; type < present.owed.size(); ++type) {
      present.owed[type] += part_of(passed, present.shares[type]);
    }
    if (present.type && state.is_running(job)) { present.owed[*present.type] -= passed; }
  }
}

std::vector<GavelScheduler::Pick> GavelScheduler::picks() const {
  std::vector<Pick> picks;
  for (const auto& [job, present] : present_) {
    for (std::uint16_t type = 0; type < present.shares.size(); ++type) {
      if (present.shares[type] == 0) { continue; }
      picks.push_back({present.owed[type] + part_of(settings_.round, present.shares[type]), job, type});
    }
  }
  std::stable_sort(picks.begin(), picks.end(), [](const Pick& a, const Pick& b) { return a.owed > b.owed; });
  return picks;
}

std::map<JobId, std::uint16_t> GavelScheduler::chosen(const std::vector<Pick>& picks, std::vector<std::uint32_t> gpus,
                                                      const ClusterState& state) const {
  std::map<JobId, std::uint16_t> chosen;
  for (const Pick& pick : picks) {
    const std::uint32_t wanted = gpus_of(pick.job, state);
    if (wanted > gpus[pick.type] || chosen.contains(pick.job)) { continue; }
    chosen.emplace(pick.job, pick.type);
    gpus[pick.type] -= wanted;
  }
  return chosen;
}

bool GavelScheduler::start(JobId job, std::uint16_t type, ClusterState& state) {
  auto where = place_on(type, state.jobs().shape(job), state.inventory());
  if (!where) { return false; }
  state.start(job, std::move(*where));
  present_[job].type = type;
  --waiting_;
  return true;
}

/// Those chosen are placed the largest first; what is left then goes to whoever fits, in the order of picks.
void GavelScheduler::schedule(ClusterState& state) {
  note_round(state);
  called_ = state.now();
  const std::vector<std::uint32_t> gpus = gpus_by_type(state);
  if (present_.empty()) { return; }
  if (changed_ || gpus != gpus_when_shared_) { share_out(gpus, state); }
  const std::vector<Pick> order = picks();
  const std::map<JobId, std::uint16_t> next = chosen(order, gpus, state);
  std::vector<JobId> starting;
  for (auto& [job, present] : present_) {
    const auto found = next.find(job);
    if (state.is_running(job) && (found == next.end() || present.type != found->second)) {
      state.stop(job);
      present.type.reset();
      ++waiting_;
    }
    if (found != next.end() && !state.is_running(job)) { starting.push_back(job); }
  }
  std::stable_sort(starting.begin(), starting.end(),
                   [&](JobId a, JobId b) { return gpus_of(a, state) > gpus_of(b, state); });
  for (const JobId job : starting) { start(job, next.at(job), state); }
  for (const Pick& pick : order) {
    if (!state.is_running(pick.job)) { start(pick.job, pick.type, state); }
  }
  idle_ = state.running().empty();
}

std::string GavelScheduler::reason(JobId job, const ClusterState& state) const {
  const auto found = present_.find(job);
  std::string shares;
  for (std::size_t type = 0; found != present_.end() && type < found->second.shares.size(); ++type) {
    shares += fmt::format("{}{:.0f} % of the time on {}", type == 0 ? "" : ", ",
                          static_cast<double>(found->second.shares[type]) / 1e4, nodes_.gpu_types[type]);
  }
  return fmt::format("waits for {} GPUs until its next round: {}", gpus_of(job, state),
                     shares.empty() ? "it has come since the last one" : shares);
}

}  // namespace athanor
