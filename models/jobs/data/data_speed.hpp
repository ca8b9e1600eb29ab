#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/jobs/data/cache_contents.hpp"
#include "models/jobs/data/checkpoint_writers.hpp"
#include "models/jobs/data/data_rules.hpp"
#include "models/jobs/data/storage_load.hpp"
#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs that read data sets work as fast as data comes: the least of what the GPUs take, what cores prepare and what is
/// fetched, epoch by epoch. Jobs that read from one storage share it max-min, by their nodes; those on one node its
/// caches. Where they meet jobs that send over the same links, each stream is cut to what these leave it on average,
/// and so are these: what it does not get then nobody else gets.
class DataSpeed final : public SpeedModel {
 public:
  /// `compute`: how fast jobs work that have their data. Borrows the rules and the jobs.
  DataSpeed(std::unique_ptr<SpeedModel> compute, const DataRules& rules, const JobList& jobs);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;
  bool depends_on_others() const override { return true; }
  bool take_changes() override;
  void stopped(JobId job, WallTime done, WallTime now) override;
  std::optional<double> expected(JobId job, WallTime done, std::uint32_t nodes, std::uint32_t gpus) override {
    return compute_->expected(job, done, nodes, gpus);
  }
  bool shares_writes() const override { return writers_.shares(); }
  std::optional<WallTime> write_time(const RunningJob& running) override;
  std::optional<WallTime> restore_time(const RunningJob& running) override;
  Speed write_speed(const RunningJob& running, bool writing) override;

  const DataAccount& account(JobId job) const { return accounts_[job]; }
  /// Of each of the rules' storages.
  std::vector<StorageAccount> storages() const;

 private:
  /// What a part of a job meets at one cache in an epoch.
  struct Meeting {
    CacheContents* cache;
    double bytes;  ///< of which the reading is a part
    CachedReading reading;
  };
  struct Reader {
    std::vector<NodePart> parts;
    const DataSet* data = nullptr;
    double demand = 0;             ///< bytes per second at full speed
    double prepared = kUnlimited;  ///< speed that cores allow
    double base = 1;               ///< speed that it would have with its data and without streams
    double rate = 0;               ///< bytes per second beside others who read
    double kept = 1;               ///< share of that beside all others
    double speed = 1;
    double asked_speed = 1;  ///< the speed, and that with its data, when it was last asked for
    double asked_base = 1;
    WallTime done;
    std::uint32_t epoch = 0;
    std::uint64_t began = 0;  ///< readers that there had been when the epoch began
    std::vector<Meeting> meetings;
    std::vector<double> missing;                           ///< by part: share of its bytes that comes from the storage
    double missed = 1;                                     ///< the same of all
    double cached_seconds = 0;                             ///< of a byte of the job, from caches
    std::vector<std::pair<std::uint32_t, double>> shared;  ///< of each byte, from caches of all nodes
    double alone = 0;                                      ///< bytes per second if nobody else reads
    RateClaim claim;                                       ///< as it has entered
  };
  const JobIo& io(JobId job) const { return rules_->io[jobs_->jobs[job].io.value]; }
  WallTime boundary(JobId job, std::uint32_t epoch) const;
  CacheContents& contents(std::uint32_t cache, NodeId node);
  Reader& reader(const RunningJob& running, WallTime done);
  template <class Visit>
  void for_caches(const Reader& reader, const Visit& visit);
  void begin_epoch(Reader& reader);
  CachedOutcome meet(Reader& reader, std::uint32_t cache, const NodePart& part);
  /// Caches hold what was read in this share of the epoch.
  void end_epoch(Reader& reader, double share);
  /// What it takes of the storage in this epoch: Reader::alone, and what of all resources.
  RateClaim claim(Reader& reader);
  /// It wants what it wants from now on.
  void enter(Reader& reader, RateClaim claim);
  void note_progress(JobId job, Reader& reader, WallTime done);
  void share();
  /// What streams, and those that send over the same links, leave each other.
  void settle(const ClusterState& state);
  void set_speeds();
  void note_busiest();
  double beside(JobId job) const;
  /// The reader's own job is slower beside streams, too, and reads less. Whether it wants another rate than it has.
  bool wants_less(JobId job, const Reader& reader, double& rate) const;

  std::unique_ptr<SpeedModel> compute_;
  const DataRules* rules_;
  const JobList* jobs_;
  std::map<std::pair<std::uint32_t, NodeId>, CacheContents> contents_;
  std::map<JobId, Reader> readers_;
  StorageLoad load_;
  CheckpointWriters writers_;
  IdVector<JobId, DataAccount> accounts_;
  std::vector<StorageAccount> storages_;
  std::uint64_t readers_so_far_ = 0;
  bool shares_anew_ = false;        ///< who reads what has changed
  bool changed_ = false;            ///< and so have speeds of others
  bool meets_others_ = false;       ///< streams and what jobs send may meet on links
  bool unsettled_ = false;          ///< and may leave each other something else than was found last
  bool settles_ = false;            ///< when a speed is asked for next
  std::uint64_t settled_ = 0;       ///< ClusterState::changes() that it was found for
  std::map<JobId, double> beside_;  ///< BesideStreams::jobs
};

}  // namespace athanor
