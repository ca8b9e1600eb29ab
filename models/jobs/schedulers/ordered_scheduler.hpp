#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/schedulers/reservation.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/schedulers/waiting_list.hpp"

namespace athanor {

/// What happens to jobs behind one that does not fit.
enum class Backfill : std::uint8_t {
  none,    ///< they wait
  greedy,  ///< they start where they fit, whatever that means for those before
  easy,    ///< they start where that does not delay the first (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995)
  conservative,  ///< each holds a reservation, and those behind it start where they delay none of them
};

/// Settings that all schedulers with one queue in an order have.
struct OrderedSettings {
  Backfill backfill = Backfill::easy;
  std::uint32_t depth = 0;  ///< jobs that are looked at behind the first; 0: all
};
void visit(Fields& fields, OrderedSettings& settings);

/// Where a job stands in a queue while it waits: lower first.
using TurnKey = std::int64_t (*)(const Job& job, const JobList& jobs);

/// One queue in an order. Jobs run to their end.
class OrderedScheduler : public Scheduler {
 public:
  OrderedScheduler(TurnKey key, const OrderedSettings& settings) : key_(key), settings_(settings) {}

  void enqueue(JobId job, const ClusterState& state) override;
  void withdraw(JobId job, const ClusterState& state) override;
  void schedule(ClusterState& state) override;
  std::size_t waiting() const override { return waiting_.size(); }
  std::string reason(JobId job, const ClusterState& state) const override;

 protected:
  /// Requires one that waits.
  JobId first() const { return waiting_.first().job; }
  /// A job that waited has been started by a derived scheduler.
  void start_done(JobId job, const ClusterState& state);
  /// Calls `change` for each waiting job, which may change its turn.
  void reorder(const ClusterState& state, const std::function<void(JobId)>& change);

 private:
  /// A job has its nodes.
  virtual void started(JobId /*job*/, const ClusterState& /*state*/) {}
  virtual Turn turn(JobId job, const ClusterState& state) const;
  void start_first(ClusterState& state);
  void start_greedily(ClusterState& state);
  void backfill(ClusterState& state);
  /// Whether any waiting job could start if GPUs were counted alone.
  bool any_fits(const ClusterState& state) const;
  /// Plans all of them anew, in their order; starts those whose time is the present.
  void plan(ClusterState& state);
  void remove(const std::vector<Turn>& started, const ClusterState& state);
  /// Whether the look at the nth job behind the first is one too many.
  bool too_deep(std::uint32_t looked) const { return settings_.depth > 0 && looked > settings_.depth; }

  TurnKey key_;
  OrderedSettings settings_;
  WaitingList waiting_;
  std::optional<Reservation> reservation_;
  std::uint64_t surprises_ = 0;  ///< those before the reservation was made
};

}  // namespace athanor
