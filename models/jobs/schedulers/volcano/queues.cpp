#include "models/jobs/schedulers/volcano/queues.hpp"

#include <algorithm>
#include <limits>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::size_t kKinds = Amounts::kKinds;
constexpr double kLittle = 0.1;  ///< by which amounts may differ and be equal to Volcano
constexpr double kInfinite = std::numeric_limits<double>::infinity();

AmountParts parts_of(const Amounts& amounts) {
  AmountParts parts = {};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    parts[kind] = amounts.of[kind] >= Amounts::kUnlimited ? kInfinite : static_cast<double>(amounts.of[kind]);
  }
  return parts;
}

AmountParts parts_of(const std::optional<WrittenAmounts>& written, double absent) {
  AmountParts parts = {absent, absent, absent};
  if (!written) { return parts; }
  constexpr double kMebibyte = 1 << 20;
  if (written->cpu_milli) { parts[Amounts::cpu] = *written->cpu_milli; }
  if (written->memory) { parts[Amounts::memory] = static_cast<double>(written->memory->count()) / kMebibyte; }
  if (written->gpus) { parts[Amounts::gpu] = static_cast<double>(*written->gpus) * Inventory::kWhole; }
  return parts;
}

/// Of what is asked for alone.
bool leaves_room(const Amounts& allocated, const Amounts& more, const AmountParts& most) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (more.of[kind] > 0 && static_cast<double>(allocated.of[kind] + more.of[kind]) > most[kind] + kLittle) {
      return false;
    }
  }
  return true;
}

bool has_all(const Amounts& allocated, const AmountParts& deserved) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (deserved[kind] > static_cast<double>(allocated.of[kind]) + kLittle) { return false; }
  }
  return true;
}

}  // namespace

VolcanoQueues::VolcanoQueues(const VolcanoSettings& settings, const JobList& jobs)
    : by_weight_(settings.has(VolcanoPlugin::proportion)), by_capacity_(settings.has(VolcanoPlugin::capacity)) {
  for (const VolcanoQueue& queue : settings.queues) { queues_.push_back({queue, {}, {}, {}}); }
  const auto known = [&](const std::string& name) {
    return std::any_of(queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.rules.name == name; });
  };
  const auto add = [&](const std::string& name) {
    if (known(name)) { return; }
    queues_.emplace_back();
    queues_.back().rules.name = name;
  };
  add("default");
  if (!settings.queues.empty()) { return; }
  NameId last;
  for (const Job& job : jobs.jobs) {
    if (job.queue != last && !jobs.name(job.queue).empty()) { add(jobs.name(job.queue)); }
    last = job.queue;
  }
}

std::size_t VolcanoQueues::queue_of(const std::string& name) const {
  const std::string_view wanted = name.empty() ? std::string_view("default") : std::string_view(name);
  const auto at =
      std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.rules.name == wanted; });
  require(at != queues_.end(), "there is no queue {}", name);
  return static_cast<std::size_t>(at - queues_.begin());
}

Amounts VolcanoQueues::allocated() const {
  Amounts sum;
  for (const Queue& queue : queues_) { sum += queue.allocated; }
  return sum;
}

Amounts VolcanoQueues::inqueue() const {
  Amounts sum;
  for (const Queue& queue : queues_) { sum += queue.inqueue; }
  return sum;
}

void VolcanoQueues::open(const Amounts& total) {
  if (!by_weight_ && !by_capacity_) { return; }
  std::vector<QueueClaim> claims;
  for (const Queue& queue : queues_) {
    claims.push_back({static_cast<double>(queue.rules.weight), parts_of(queue.allocated + queue.wanted),
                      parts_of(queue.rules.capability, kInfinite), parts_of(queue.rules.guarantee, 0)});
  }
  const AmountParts all = parts_of(total);
  const std::vector<AmountParts> most = real_capabilities(all, claims);
  const std::vector<AmountParts> by_weight = by_weight_ ? water_filling(all, claims) : std::vector<AmountParts>();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    queues_[i].most = most[i];
    if (by_weight_) {
      queues_[i].deserved = by_weight[i];
      continue;
    }
    const AmountParts wanted = parts_of(queues_[i].rules.deserved, 0);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const double up_to = std::min({wanted[kind], most[i][kind], claims[i].request[kind]});
      queues_[i].deserved[kind] = std::max(up_to, claims[i].guarantee[kind]);
    }
  }
}

double VolcanoQueues::share(std::size_t queue) const {
  return dominant_share(queues_[queue].allocated, queues_[queue].deserved);
}

bool VolcanoQueues::is_before(std::size_t a, std::size_t b) const {
  if (!by_weight_ && !by_capacity_) { return a < b; }
  if (queues_[a].rules.priority != queues_[b].rules.priority) {
    return queues_[a].rules.priority > queues_[b].rules.priority;
  }
  const double first = share(a);
  const double second = share(b);
  return first != second ? first < second : a < b;
}

std::vector<std::size_t> VolcanoQueues::in_order() const {
  std::vector<std::size_t> order;
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) { order.push_back(queue); }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return is_before(a, b); });
  return order;
}

bool VolcanoQueues::is_overused(std::size_t queue) const {
  return by_weight_ && has_all(queues_[queue].allocated, queues_[queue].deserved);
}

bool VolcanoQueues::is_allocatable(std::size_t queue, const Amounts& more) const {
  const Queue& at = queues_[queue];
  if (by_weight_) { return leaves_room(at.allocated, more, at.deserved); }
  return !by_capacity_ || leaves_room(at.allocated, more, at.most);
}

int VolcanoQueues::vote_to_let_in(std::size_t queue, const Amounts& more) const {
  const Queue& at = queues_[queue];
  if (!by_weight_ && !by_capacity_) { return 0; }
  if (by_weight_ && !at.rules.capability) { return 1; }
  return leaves_room(at.allocated + at.inqueue, more, at.most) ? 1 : -1;
}

bool VolcanoQueues::may_reclaim(std::size_t queue, const Amounts& more) const {
  return !is_overused(queue) && leaves_room(queues_[queue].allocated, more, queues_[queue].deserved);
}

bool VolcanoQueues::may_lose(std::size_t queue, const Amounts& allocated, const Amounts& less) const {
  const Queue& at = queues_[queue];
  if (by_weight_) {
    Amounts after = allocated;
    after -= less;
    return has_all(after, at.deserved);
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const bool beyond = static_cast<double>(allocated.of[kind]) > at.deserved[kind] + kLittle;
    if (less.of[kind] > 0 && beyond) { return true; }
  }
  return false;
}

double dominant_share(const Amounts& allocated, const AmountParts& of) {
  double most = 0;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto has = static_cast<double>(allocated.of[kind]);
    const double none = has > 0 ? 1 : 0;
    most = std::max(most, of[kind] > 0 ? has / of[kind] : none);
  }
  return most;
}

double dominant_share(const Amounts& allocated, const Amounts& total) {
  return dominant_share(allocated, parts_of(total));
}

}  // namespace athanor
