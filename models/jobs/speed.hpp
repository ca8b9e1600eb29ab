#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/jobs/cluster_state.hpp"
#include "sim/check.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// How fast a job works, as a multiple of the speed that its duration is meant at: in 2^-32ths, so that work adds up
/// the same everywhere.
struct Speed {
  static constexpr std::uint32_t kBits = 32;
  std::uint64_t parts = std::uint64_t{1} << kBits;

  /// The nearest of a multiple. Requires 0 <= multiple < 2^31.
  static Speed of(double multiple) {
    require(multiple >= 0 && multiple < 0x1p31, "no speed of {}", multiple);
    return {static_cast<std::uint64_t>(multiple * 0x1p32 + 0.5)};
  }
  bool operator==(const Speed&) const = default;
  /// So many times as fast as with `by` in place of `times`. Requires by > 0, and a speed below 2^31.
  Speed scaled(std::uint64_t times, std::uint64_t by) const {
    if (times == by) { return *this; }
    return {static_cast<std::uint64_t>(Wide{static_cast<std::int64_t>(parts)} * static_cast<Wide>(times) /
                                       static_cast<Wide>(by))};
  }

  /// What is done in a span, rounded down.
  WallTime work_in(WallTime span) const {
    return WallTime{static_cast<std::int64_t>(Wide{span.count()} * static_cast<Wide>(parts) >> kBits)};
  }
  /// The least span in which so much is done; max: never.
  WallTime time_for(WallTime work) const {
    if (work <= WallTime::zero()) { return {}; }
    if (parts == 0) { return WallTime::max(); }
    const Wide whole = Wide{work.count()} << kBits;
    const Wide span = (whole + static_cast<Wide>(parts) - 1) / static_cast<Wide>(parts);
    return span > INT64_MAX ? WallTime::max() : WallTime{static_cast<std::int64_t>(span)};
  }
};

/// How fast a job goes on, and up to where that holds if nothing else happens.
struct JobPace {
  Speed speed;
  WallTime until = WallTime::max();  ///< of its work, counted from its beginning
};

/// What a job reads or writes over links of the fabric, for longer than steps of others take.
struct LinkStream {
  JobId job;
  bool stands_still = false;                            ///< the job sends nothing else meanwhile
  std::vector<std::pair<std::uint32_t, double>> links;  ///< ascending, and the share of each that its rate takes
};

/// What streams, and jobs that send over the same links, leave each other.
struct BesideStreams {
  std::vector<double> streams;   ///< share of its rate that each has
  std::map<JobId, double> jobs;  ///< how many times as fast as without streams; of those that are not named 1
};

/// How fast jobs work where they are.
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;
  /// Of a running job that has done so much of its work.
  virtual JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) = 0;
  /// Of an elastic job that has done so much, on so many nodes with so many GPUs altogether and nobody beside it, as a
  /// multiple of its full speed; none: in proportion to its GPUs, as it then works, too.
  virtual std::optional<double> expected(JobId /*job*/, WallTime /*done*/, std::uint32_t /*nodes*/,
                                         std::uint32_t /*gpus*/) {
    return {};
  }
  /// Does it depend on which other jobs run? Then all are asked whenever one starts or ends.
  virtual bool depends_on_others() const { return false; }
  /// Has the pace of a job changed that was not asked for last? Then all are asked anew. True once for each change.
  virtual bool take_changes() { return false; }
  /// A job works no longer where it was: it has ended, failed or lost its nodes when it had done so much of its work.
  virtual void stopped(JobId /*job*/, WallTime /*done*/, WallTime /*now*/) {}

  /// Do jobs send over links that streams may use, too? Then beside() says what these leave each other.
  virtual bool meets_streams() const { return false; }
  /// Requires meets_streams(), and streams that leave each other room. Holds for jobs as they are now, until it is
  /// asked again: pace() is what they do without streams.
  virtual BesideStreams beside(const std::vector<LinkStream>& /*streams*/, const ClusterState& /*state*/) { return {}; }

  /// Does the time of writing checkpoints depend on who else writes?
  virtual bool shares_writes() const { return false; }
  /// Of a checkpoint of a running job if nobody else writes; none: as the rules say.
  virtual std::optional<WallTime> write_time(const RunningJob& /*running*/) { return {}; }
  /// Of reading one again before it goes on; none: nothing but what the rules say.
  virtual std::optional<WallTime> restore_time(const RunningJob& /*running*/) { return {}; }
  /// How fast it writes from now on, as a multiple of that: it is about to write, or is not.
  virtual Speed write_speed(const RunningJob& /*running*/, bool /*writing*/) { return {}; }
};

/// Every job works at full speed wherever it is.
class FullSpeed final : public SpeedModel {
 public:
  JobPace pace(const RunningJob& /*running*/, WallTime /*done*/, const ClusterState& /*state*/) override { return {}; }
};

}  // namespace athanor
