#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

/// Instantiated in the file of each kind (entry.hpp).
template <class Kind>
SchedulerEntry scheduler_entry_of();

/// In the order of lists and documentation.
constexpr SchedulerEntry (*kSchedulers[])() = {
    scheduler_entry_of<struct Fifo>,                    // fifo
    scheduler_entry_of<struct ShortestJobFirst>,        // sjf
    scheduler_entry_of<struct ShortestServiceFirst>,    // qssf
    scheduler_entry_of<struct ShortestRemainingFirst>,  // srtf
    scheduler_entry_of<struct LeastAttainedService>,    // las
    scheduler_entry_of<struct Pollux>,                  // pollux
    scheduler_entry_of<struct Sia>,                     // sia
    scheduler_entry_of<struct Gavel>,                   // gavel
    scheduler_entry_of<struct Slurm>,                   // slurm
    scheduler_entry_of<struct Kubernetes>,              // kubernetes
    scheduler_entry_of<struct Kueue>,                   // kueue
    scheduler_entry_of<struct Volcano>,                 // volcano
    scheduler_entry_of<struct Drop>,                    // drop
};

const std::vector<SchedulerEntry>& schedulers() {
  static const std::vector<SchedulerEntry> all = [] {
    std::vector<SchedulerEntry> found;
    for (const auto& entry : kSchedulers) { found.push_back(entry()); }
    return found;
  }();
  return all;
}

}  // namespace athanor
