#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// One collective to carry out for real, and how often.
struct Trial {
  Collective collective;
  /// How to do it; null: the backend's own library does it (MPI's, NCCL's), see Backend::libraries().
  const Schedule* schedule = nullptr;
  std::string library;  ///< which one, where `schedule` is null
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::optional<std::uint32_t> slots;  ///< per connection; else the schedule's least
  std::uint32_t warm_up = 5;           ///< iterations that are not timed
  std::uint32_t iterations = 20;
  std::chrono::nanoseconds time_limit = std::chrono::minutes{1};  ///< of one iteration
  /// Asked now and then between iterations, but not between those that take a moment: shall the trial end early?
  std::function<bool()> interrupted = [] { return false; };
};

/// What came of a trial: equal in every process that takes part.
struct TrialOutcome {
  std::vector<std::chrono::nanoseconds> durations;  ///< of each timed iteration, of the slowest rank; fewer where ...
  bool interrupted = false;                         ///< ... the trial ended early; then nothing was checked
  std::uint64_t wrong = 0;                          ///< ranks whose output is not what was expected
  std::optional<std::string> first_wrong;           ///< in words: "rank 3, element 17: ..."
};

/// What no expected value consists of: an output that nobody has written is then found.
constexpr std::byte kUntouched{0x5A};

/// A way to carry out collectives on this machine or on those that this process belongs to. `measure` runs alike in
/// every process; what it prints and writes comes from the one that speaks.
class Backend {
 public:
  virtual ~Backend() = default;
  /// "threads", "mpi", "cuda".
  virtual std::string_view name() const = 0;
  /// Ranks that it must be used with (the processes that mpirun started); none: any number.
  virtual std::optional<std::uint32_t> ranks() const = 0;
  /// Does this process print and write?
  virtual bool speaks() const { return true; }
  /// True in every process where it is true in one, so that all go on or stop alike. To be called by all alike.
  virtual bool any(bool here) { return here; }
  /// Names of libraries whose own collectives it can run for comparison: "mpi_library", "nccl".
  virtual std::vector<std::string> libraries() const { return {}; }
  /// Why the library does not do such a trial, or nothing.
  virtual std::optional<std::string> refuses(const Trial&) const { return std::nullopt; }
  /// Fills inputs anew, runs warm-up and iterations, then fills, runs once and checks all outputs (Expectation).
  /// Throws SimulationError where a schedule is wrong, a rank has died or the time limit passed; in bounded time.
  virtual TrialOutcome run(const Trial& trial) = 0;
  /// What a measurement file says of the versions and settings that count: {"mpi", "Open MPI 4.1.4"}, {"workers", "2"}.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

}  // namespace athanor
