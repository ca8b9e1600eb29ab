#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "models/engines/engine.hpp"
#include "models/execution/run.hpp"
#include "models/experiments/experiment.hpp"
#include "models/experiments/verification.hpp"

namespace athanor {

/// One collective over a range of sizes.
struct CollectiveSetup {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  bool in_place = false;
  std::optional<NicOffload> offload;  ///< NICs carry it out; its costs are in the platform's profile already
  std::optional<Time> compute;        ///< what hosts compute beside it
  std::uint32_t calls = 1;            ///< that follow each other; see RunRequest
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<Bytes> sizes;
  std::vector<const Algorithm*> algorithms;               ///< candidates; the fastest at each size counts
  bool each_algorithm = false;                            ///< is reported instead, where it fits
  std::vector<std::shared_ptr<const Algorithm>> imports;  ///< those among them that are not the catalog's
  std::shared_ptr<const AllToAllVSizes> exchange;         ///< of all-to-all-v; `sizes` then holds its payload
  Overrides overrides;
  std::shared_ptr<const NcclRuntime> nccl;  ///< on the platform and its ranks; null where the profile has no "nccl"
  std::optional<Verification> verification;

  /// What is asked of the collective for a payload of `size`.
  Collective collective(Bytes size) const;
  /// What is to be run. Borrows from both.
  RunRequest request(const Platform& platform, Bytes size, const SimulationOptions& options) const;
  /// What to look for in measurements of it, carried out by that algorithm, whose name is borrowed.
  Measurement::Wanted measured_like(std::string_view algorithm) const;
};

// Columns of collectives, and of each of several jobs; nccl-tests' where it has them.
inline constexpr Column kCollective{"collective"};                                      ///< what was done
inline constexpr Column kAlgorithm{"algorithm", "algorithm", "", 20, Format::text, 2};  ///< of the fastest candidate
inline constexpr Column kProtocol{"protocol", "protocol", "", 8,
                                  Format::text};  ///< of the profile, that the fastest candidate used
inline constexpr Column kChannels{"channels", "ch", "", 2, Format::count};  ///< of the fastest candidate
inline constexpr Column kRanks{"ranks"};                                    ///< how many take part
inline constexpr Column kBytes{"bytes", "size", "(B)", 12,
                               Format::count};                ///< payload, as nccl-tests counts it for the collective
inline constexpr Column kType{"type"};                        ///< of an element
inline constexpr Column kTime{"time_us", "time", "(us)", 9};  ///< from the launch to the end of the last rank
inline constexpr Column kTimeLow{"time_low_us"};              ///< one measured time in ten is expected to be less
inline constexpr Column kTimeHigh{"time_high_us"};            ///< one in ten is expected to be more
inline constexpr Column kKnown{"known"};  ///< what of the stack had been measured: see [intervals](models.md#intervals)
inline constexpr Column kShared{"error_shared"};  ///< of the error's variance, what other times of the profile share
inline constexpr Column kProfile{"profile"};      ///< whose software costs count
inline constexpr Column kInterval{"", "interval", "(80 %)", 10, Format::word};
/// "-10/+16 %" of multiples of the simulated time.
std::string interval_text(double low, double high);
inline constexpr Column kCalls{"calls"};                               ///< that follow each other; `time_us` is of one
inline constexpr Column kLatency{"latency_us", "latency", "(us)", 9};  ///< with `calls`: of one call by itself
inline constexpr Column kPeriod{"period_us", "period", "(us)", 9};     ///< with `calls`: of a loop that has settled
inline constexpr Column kAlgorithmBandwidth{"algbw_gbps", "algbw", "(GB/s)", 7};  ///< size / time
inline constexpr Column kBusBandwidth{"busbw_gbps", "busbw", "(GB/s)",
                                      7};  ///< algbw times the factor that nccl-tests has for the collective
inline constexpr Column kBoundTime{"bound_time_us", "bound", "(us)", 9,
                                   Format::figure,  2};  ///< least time that the hardware allows any algorithm
inline constexpr Column kFellBack{"fell_back"};          ///< why no engines of switches could be had
inline constexpr Column kRoots{"roots"};                 ///< switches at which trees of engines end
inline constexpr Column kMeasuredTime{"measured_time_us", "measured", "(us)", 9};    ///< what was measured
inline constexpr Column kError{"error", "error", "(%)", 8, Format::signed_percent};  ///< simulated / measured - 1
inline constexpr Column kCount{"", "count", "(elements)", 12, Format::count};
inline constexpr Column kTypeName{"", "type", "", 9, Format::word};

/// The payload of a collective's record.
Bytes size_of(const Record& record);

/// Elements per call argument, as nccl-tests prints them: the part of one peer for all-gather, reduce-scatter and
/// all-to-all (rounded up), else all of them.
std::int64_t count_per_argument(const Collective& collective);

/// The root of collectives that have one, else -1.
std::int64_t printed_root(const Collective& collective);

class CollectiveExperiment : public Experiment {
 public:
  explicit CollectiveExperiment(CollectiveSetup setup) : setup_(std::move(setup)) {}

  const CollectiveSetup& setup() const { return setup_; }

  std::string_view subject() const override { return "collective"; }
  std::string variant() const override { return std::string(name(setup_.kind)); }
  std::uint32_t ranks() const override { return setup_.ranks; }
  std::span<const Bytes> sizes() const override { return setup_.sizes; }
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  const RepetitionSummary* repetitions() const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// Of its records, those that sweeps and reports show.
  static std::vector<const Column*> figures();
  std::vector<const Column*> csv_columns() const override;
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string footer(const std::vector<Record>& records) const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  const Verification* verification() const override;
  bool has_collectives() const override { return true; }
  bool may_use_switches(const Platform& platform) const override;
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  CollectiveSetup setup_;
};

/// "NAME: DESCRIPTION" of a platform's profile.
std::string profile_text(const Profile& profile);
/// "all_reduce of 1 MiB"; without a payload the name alone.
std::string collective_label(CollectiveKind kind, Bytes size);
/// What variables of NCCL's environment do not do, in a sentence each, of all these runtimes.
std::vector<std::string> nccl_warnings(const Profile& profile,
                                       const std::vector<std::shared_ptr<const NcclRuntime>>& runtimes);
/// Where all algorithms may be taken: those that NCCL has. Requires its runtime.
void leave_to_nccl(CollectiveSetup& setup);
/// Of "collective", those that do nothing for its kind and algorithms.
std::vector<IdleKeys> idle_keys_of(const CollectiveSetup& setup);
/// Throws UsageError where a size that was asked for is no payload of it.
void check_asked_sizes_of(const CollectiveSetup& setup);
/// Of the engines of a platform: NCCL, and the groups of a workload, go on without those that they do not get.
inline const IdleKeys kFallbackKeys{{"/network/aggregation/on_exhausted", "/network/aggregation/fallback"},
                                    "NCCL, and the groups of a workload, go on without engines that they do not get",
                                    "leave it out"};
/// "8 of 64 lanes, ...": what simulating it took.
std::string effort_text(const Simulated& simulated);
/// Lines below a table: each of the notes once, and what marks mean.
std::string notes_text(const std::vector<std::string>& notes, bool extrapolated);

}  // namespace athanor
