#include "models/jobs/schedulers/kueue/quotas.hpp"

#include <algorithm>

#include "models/jobs/inventory.hpp"
#include "sim/check.hpp"

namespace athanor {

KueueQuotas::KueueQuotas(const std::vector<KueueQueue>& queues) {
  for (const KueueQueue& written : queues) {
    Queue queue{written.cohort, {}, {}};
    for (const KueueFlavor& flavor : flavors_of(written)) {
      Quota quota;
      quota.nominal = flavor.quota.nominal * std::uint64_t{Inventory::kWhole};
      if (flavor.quota.borrowing_limit) {
        quota.borrowing_limit = *flavor.quota.borrowing_limit * std::uint64_t{Inventory::kWhole};
      }
      if (flavor.quota.lending_limit) {
        quota.kept = quota.nominal - *flavor.quota.lending_limit * std::uint64_t{Inventory::kWhole};
      }
      queue.order.push_back(number_of(flavor.gpu_types));
      queue.quotas.emplace(queue.order.back(), quota);
    }
    queues_.push_back(std::move(queue));
  }
}

KueueQuotas::Flavor KueueQuotas::number_of(const std::vector<std::string>& gpu_types) {
  const auto found = std::find(gpu_types_.begin(), gpu_types_.end(), gpu_types);
  const auto number = static_cast<Flavor>(found - gpu_types_.begin());
  if (found == gpu_types_.end()) { gpu_types_.push_back(gpu_types); }
  return number;
}

void KueueQuotas::take(std::size_t queue, const Amounts& amounts) {
  for (const auto& [flavor, amount] : amounts) { queues_[queue].quotas.at(flavor).used += amount; }
}

void KueueQuotas::give_back(std::size_t queue, const Amounts& amounts) {
  for (const auto& [flavor, amount] : amounts) {
    Quota& quota = queues_[queue].quotas.at(flavor);
    require(quota.used >= amount, "a queue gives back {} of a quota, and has {}", amount, quota.used);
    quota.used -= amount;
  }
}

bool KueueQuotas::would_borrow(std::size_t queue, const Amounts& amounts) const {
  if (queues_[queue].cohort.empty()) { return false; }
  return std::any_of(amounts.begin(), amounts.end(), [&](const auto& each) {
    return used(queue, each.first) + each.second > nominal(queue, each.first);
  });
}

bool KueueQuotas::borrows(std::size_t queue, Flavor flavor) const {
  return has(queue, flavor) && used(queue, flavor) > nominal(queue, flavor);
}

bool KueueQuotas::same_cohort(std::size_t a, std::size_t b) const {
  return a == b || (!queues_[a].cohort.empty() && queues_[a].cohort == queues_[b].cohort);
}

bool KueueQuotas::fits(std::size_t queue, const Amounts& amounts) const {
  return std::all_of(amounts.begin(), amounts.end(), [&](const auto& each) {
    return static_cast<std::int64_t>(each.second) <= available(queue, each.first);
  });
}

std::int64_t KueueQuotas::available(std::size_t queue, Flavor flavor) const {
  const Quota& own = of(queue, flavor);
  std::uint64_t lent = 0;
  std::uint64_t used = 0;
  for (std::size_t other = 0; other < queues_.size(); ++other) {
    if (!same_cohort(queue, other) || !has(other, flavor)) { continue; }
    lent += of(other, flavor).lent();
    used += of(other, flavor).used_of_cohort();
  }
  auto of_cohort = static_cast<std::int64_t>(lent) - static_cast<std::int64_t>(used);
  if (own.borrowing_limit) {
    const auto most = static_cast<std::int64_t>(own.lent() + *own.borrowing_limit);
    of_cohort = std::min(of_cohort, most - static_cast<std::int64_t>(own.used_of_cohort()));
  }
  return of_cohort + static_cast<std::int64_t>(own.kept > own.used ? own.kept - own.used : 0);
}

}  // namespace athanor
