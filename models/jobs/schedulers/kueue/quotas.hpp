#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/schedulers/kueue/settings.hpp"

namespace athanor {

/// What queues have of their quotas, flavor by flavor: flavors of equal types are one, whose quotas queues of a cohort
/// lend each other. Amounts are thousandths of GPUs.
class KueueQuotas {
 public:
  /// A flavor of any queue, in the order of their first mention.
  using Flavor = std::size_t;
  /// What a job takes, by flavor.
  using Amounts = std::map<Flavor, std::uint64_t>;

  explicit KueueQuotas(const std::vector<KueueQueue>& queues);

  /// Of a queue, in the order in which they are tried.
  const std::vector<Flavor>& flavors(std::size_t queue) const { return queues_[queue].order; }
  const std::vector<std::string>& gpu_types(Flavor flavor) const { return gpu_types_[flavor]; }

  void take(std::size_t queue, const Amounts& amounts);
  /// Requires that it has been taken.
  void give_back(std::size_t queue, const Amounts& amounts);

  std::uint64_t used(std::size_t queue, Flavor flavor) const { return of(queue, flavor).used; }
  std::uint64_t nominal(std::size_t queue, Flavor flavor) const { return of(queue, flavor).nominal; }
  bool has(std::size_t queue, Flavor flavor) const { return queues_[queue].quotas.contains(flavor); }
  /// Would a queue of a cohort have more than its quota with so much more, of any of them?
  bool would_borrow(std::size_t queue, const Amounts& amounts) const;
  bool borrows(std::size_t queue, Flavor flavor) const;
  /// Do its quotas, limits and what its cohort lends leave room for so much?
  bool fits(std::size_t queue, const Amounts& amounts) const;
  /// What it could take still; below zero: it has more than is left to it.
  std::int64_t available(std::size_t queue, Flavor flavor) const;
  bool same_cohort(std::size_t a, std::size_t b) const;

 private:
  struct Quota {
    std::uint64_t nominal = 0;
    std::optional<std::uint64_t> borrowing_limit;
    std::uint64_t kept = 0;  ///< of the nominal, which is not lent
    std::uint64_t used = 0;
    std::uint64_t lent() const { return nominal - kept; }
    std::uint64_t used_of_cohort() const { return used > kept ? used - kept : 0; }
  };
  struct Queue {
    std::string cohort;
    std::vector<Flavor> order;
    std::map<Flavor, Quota> quotas;
  };
  const Quota& of(std::size_t queue, Flavor flavor) const { return queues_[queue].quotas.at(flavor); }
  Flavor number_of(const std::vector<std::string>& gpu_types);

  std::vector<std::vector<std::string>> gpu_types_;
  std::vector<Queue> queues_;
};

}  // namespace athanor
