#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/schedulers/volcano/amounts.hpp"
#include "models/jobs/schedulers/volcano/settings.hpp"
#include "models/jobs/schedulers/volcano/water_filling.hpp"

namespace athanor {

/// The queues of Volcano: what their jobs have and want, what they deserve, and what follows from it.
class VolcanoQueues {
 public:
  /// Without queues in the settings they are those that jobs name.
  VolcanoQueues(const VolcanoSettings& settings, const JobList& jobs);

  std::size_t count() const { return queues_.size(); }
  /// Requires that there is one.
  std::size_t queue_of(const std::string& name) const;
  const std::string& name(std::size_t queue) const { return queues_[queue].rules.name; }
  bool is_reclaimable(std::size_t queue) const { return queues_[queue].rules.reclaimable; }

  // What jobs of a queue have got, what those need that have been let in and wait, and what any of them would still
  // take.
  void allocate(std::size_t queue, const Amounts& what) { queues_[queue].allocated += what; }
  void release(std::size_t queue, const Amounts& what) { queues_[queue].allocated -= what; }
  void let_in(std::size_t queue, const Amounts& what) { queues_[queue].inqueue += what; }
  void leave(std::size_t queue, const Amounts& what) { queues_[queue].inqueue -= what; }
  void want(std::size_t queue, const Amounts& more, const Amounts& less) {
    queues_[queue].wanted += more;
    queues_[queue].wanted -= less;
  }
  Amounts allocated() const;
  Amounts inqueue() const;
  const Amounts& allocated(std::size_t queue) const { return queues_[queue].allocated; }

  /// A session begins: says anew what each deserves. `total`: what the open nodes have.
  void open(const Amounts& total);
  const AmountParts& deserved(std::size_t queue) const { return queues_[queue].deserved; }
  /// The largest part of what it deserves that it has.
  double share(std::size_t queue) const;
  /// Whether a queue's turn is before another's: by priority, then by share.
  bool is_before(std::size_t a, std::size_t b) const;
  /// All of them, as their turns are at present.
  std::vector<std::size_t> in_order() const;
  /// It has all that it deserves (proportion).
  bool is_overused(std::size_t queue) const;
  /// It may have so much more.
  bool is_allocatable(std::size_t queue, const Amounts& more) const;
  /// So much more may be let in: 1, or it may not: -1; nobody says anything: 0.
  int vote_to_let_in(std::size_t queue, const Amounts& more) const;
  /// It may take so much from others.
  bool may_reclaim(std::size_t queue, const Amounts& more) const;
  /// A queue that has `allocated` may lose so much to others.
  bool may_lose(std::size_t queue, const Amounts& allocated, const Amounts& less) const;

 private:
  struct Queue {
    VolcanoQueue rules;
    Amounts allocated;
    Amounts inqueue;
    Amounts wanted;
    AmountParts deserved = {};
    AmountParts most = {};  ///< its real capability
  };

  bool by_weight_;
  bool by_capacity_;
  std::vector<Queue> queues_;
};

/// The largest allocated / of; what is allocated of nothing is all of it.
double dominant_share(const Amounts& allocated, const AmountParts& of);
/// The same of what a cluster has, where nothing limited is left out.
double dominant_share(const Amounts& allocated, const Amounts& total);

}  // namespace athanor
