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
#include "models/mpi/library.hpp"

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
  std::optional<MpiLibrary> mpi;            ///< which chooses among `algorithms` at each size
  std::shared_ptr<const NcclRuntime> nccl;  ///< on the platform and its ranks; null where the profile has no "nccl"
  std::optional<Verification> verification;

  /// What is asked of the collective for a payload of `size`.
  Collective collective(Bytes size) const;
  /// What is to be run. Borrows from both.
  RunRequest request(const Platform& platform, Bytes size, const SimulationOptions& options) const;
  /// Where every algorithm is reported, those that fit, one by one; else all together, of which the fastest is
  /// reported.
  std::vector<RunRequest> requests(const Platform& platform, Bytes size, const SimulationOptions& options) const;
  /// What to look for in measurements of it, carried out by that algorithm, whose name is borrowed.
  Measurement::Wanted measured_like(std::string_view algorithm) const;
};

// Columns of collectives, and of each of several jobs; nccl-tests' where it has them.
inline constexpr Column kCollective{
    .key = "collective",
    .role = ColumnRole::subject,
    .shown = {.in_database = true, .in_reports = Shown::Report::word}};  ///< what was done
inline constexpr Column kAlgorithm{
    .key = "algorithm",
    .head = "algorithm",
    .width = 20,
    .format = Format::text,
    .gap = 2,
    .role = ColumnRole::choice,
    .shown = {
        .in_sweeps = true, .in_database = true, .in_reports = Shown::Report::remark}};  ///< of the fastest candidate
inline constexpr Column kProtocol{
    .key = "protocol",
    .head = "protocol",
    .width = 8,
    .format = Format::text,
    .role = ColumnRole::choice,
    .shown = {.in_database = true,
              .in_reports = Shown::Report::remark}};  ///< of the profile, that the fastest candidate used
inline constexpr Column kChannels{
    .key = "channels",
    .head = "ch",
    .width = 2,
    .format = Format::count,
    .shown = {.in_reports = Shown::Report::remark, .report_head = "channels"}};  ///< of the fastest candidate
inline constexpr Column kRanks{
    .key = "ranks",
    .role = ColumnRole::choice,
    .shown = {.in_database = true, .in_reports = Shown::Report::word}};  ///< how many take part
inline constexpr Column kBytes{
    .key = "bytes",
    .head = "size",
    .unit = "(B)",
    .width = 12,
    .format = Format::count,
    .role = ColumnRole::condition,
    .shown = {.in_sweeps = true,
              .in_database = true,
              .in_reports = Shown::Report::figure,
              .report_head = "size"}};  ///< payload, as nccl-tests counts it for the collective
inline constexpr Column kType{.key = "type", .role = ColumnRole::choice};  ///< of an element
inline constexpr Column kTime{.key = "time_us",
                              .head = "time",
                              .unit = "(us)",
                              .width = 9,
                              .role = ColumnRole::time,
                              .shown = {.in_sweeps = true,
                                        .in_database = true,
                                        .in_reports = Shown::Report::figure,
                                        .axis = "Time"}};  ///< from the launch to the end of the last rank
inline constexpr Column kTimeLow{
    .key = "time_low_us",
    .head = "low",
    .unit = "(us)",
    .width = 9,
    .role = ColumnRole::low_end,
    .of = &kTime,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .report_head = "one in ten below (µs)"}};  ///< one measured time in ten is expected to be less
inline constexpr Column kTimeHigh{
    .key = "time_high_us",
    .head = "high",
    .unit = "(us)",
    .width = 9,
    .role = ColumnRole::high_end,
    .of = &kTime,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .report_head = "one in ten above (µs)"}};  ///< one in ten is expected to be more
inline constexpr Column kKnown{
    .key = "known",
    .shown = {.in_reports =
                  Shown::Report::word}};  ///< what of the stack had been measured: see [intervals](models.md#intervals)
inline constexpr Column kShared{"error_shared"};  ///< of the error's variance, what other times of the profile share
inline constexpr Column kProfile{
    .key = "profile", .role = ColumnRole::profile, .of = &kTime};  ///< whose software costs count
inline constexpr Column kInterval{"", "interval", "(80 %)", 10, Format::word};
/// Where eight of ten measured times of a collective of this size are expected, and what of its stack was known, as far
/// as anybody knows. `bound`: the least time that the hardware allows.
void put_interval(const CollectiveSetup& setup, const Platform& platform, Bytes size, Time time, Time bound,
                  Record& record);
inline constexpr Column kCalls{"calls"};                               ///< that follow each other; `time_us` is of one
inline constexpr Column kLatency{"latency_us", "latency", "(us)", 9};  ///< with `calls`: of one call by itself
inline constexpr Column kPeriod{"period_us", "period", "(us)", 9};     ///< with `calls`: of a loop that has settled
inline constexpr Column kAlgorithmBandwidth{
    .key = "algbw_gbps",
    .head = "algbw",
    .unit = "(GB/s)",
    .width = 7,
    .role = ColumnRole::rate,
    .of = &kTime,
    .shown = {.in_reports = Shown::Report::figure, .axis = "Algorithm bandwidth (GB/s)"}};  ///< size / time
inline constexpr Column kBusBandwidth{
    .key = "busbw_gbps",
    .head = "busbw",
    .unit = "(GB/s)",
    .width = 7,
    .role = ColumnRole::rate,
    .of = &kTime,
    .shown = {.in_sweeps = true,
              .in_database = true,
              .beside_time = true,
              .in_reports = Shown::Report::figure,
              .axis = "Bus bandwidth (GB/s)"}};  ///< algbw times the factor that nccl-tests has for the collective
inline constexpr Column kBoundTime{
    .key = "bound_time_us",
    .head = "bound",
    .unit = "(us)",
    .width = 9,
    .gap = 2,
    .shown = {.in_database = true,
              .in_reports = Shown::Report::figure,
              .axis = "Hardware bound"}};        ///< least time that the hardware allows any algorithm
inline constexpr Column kFellBack{"fell_back"};  ///< why no engines of switches could be had
inline constexpr Column kRoots{"roots"};         ///< switches at which trees of engines end
inline constexpr Column kMeasuredTime{.key = "measured_time_us",
                                      .head = "measured",
                                      .unit = "(us)",
                                      .width = 9,
                                      .shown = {.in_reports = Shown::Report::figure}};  ///< what was measured
inline constexpr Column kError{.key = "error",
                               .head = "error",
                               .unit = "(%)",
                               .width = 8,
                               .format = Format::signed_percent,
                               .shown = {.in_reports = Shown::Report::figure}};  ///< simulated / measured - 1
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
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  const RepetitionSummary* repetitions() const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<const Column*> csv_columns() const override;
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string footer(const std::vector<Record>& records) const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  std::optional<Reference> reference() const override;
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
