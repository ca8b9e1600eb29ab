#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/jobs/cluster_state.hpp"
#include "models/jobs/data/storage_load.hpp"
#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs that write checkpoints to one storage, whose rate those share that write at one time.
class CheckpointWriters {
 public:
  /// Borrows the rules.
  explicit CheckpointWriters(const DataRules& rules)
      : rules_(&rules), load_(rules, StorageLoad::Direction::write), restoring_(rules, StorageLoad::Direction::read) {}

  bool shares() const { return rules_->checkpoint_storage.has_value(); }
  /// Of one checkpoint of a job there, if nobody else writes.
  std::optional<WallTime> time_alone(const Allocation& where, const JobIo& io);
  /// Of reading it again, if nobody else reads; none: nothing limits that.
  std::optional<WallTime> restore_time(const Allocation& where, const JobIo& io);
  /// How fast a job writes, as a multiple of what it would alone, from now on: it writes, or it does not.
  Speed pace(const RunningJob& running, const JobIo& io, bool writing);
  /// It has lost its nodes or has ended.
  void leave(JobId job);
  /// Whether somebody's pace has changed since this was last asked.
  bool take_changes() { return std::exchange(changed_, false); }

  /// They meet others on links of the fabric: whoever knows these says what is left of the rates, by keep().
  void meet_others() { meets_others_ = true; }
  /// Whether rates have changed since this was last asked, of those who meet others.
  bool take_new_rates() { return std::exchange(new_rates_, false); }
  /// Adds what each takes of links.
  void add_streams(std::vector<LinkStream>& streams) const;
  /// The shares of their rates that they keep, from now on, in the order of add_streams().
  void keep(std::span<const double> shares);

  double written() const { return written_; }
  double busiest() const { return busiest_; }

 private:
  struct Writer {
    double bytes = 0;
    RateClaim claim;  ///< its most: bytes per second if nobody else writes
    double rate = 0;  ///< beside others who write
    double kept = 1;  ///< share of that beside all others
    Speed speed;
  };
  /// All bytes of a checkpoint; its most: bytes per second if there is nobody else.
  RateClaim claim(StorageLoad& load, const Allocation& where, double bytes) const;
  void share();
  void note_busiest();

  const DataRules* rules_;
  StorageLoad load_;
  StorageLoad restoring_;
  std::map<JobId, Writer> writers_;
  bool changed_ = false;
  bool meets_others_ = false;
  bool new_rates_ = false;
  double written_ = 0;
  double busiest_ = 0;
};

}  // namespace athanor
