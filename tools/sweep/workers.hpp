#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/database.hpp"
#include "tools/sweep/points.hpp"

namespace athanor {

/// Other processes that simulate points of the same sweep, all started alike by mpirun or srun.
class SweepWorkers {
 public:
  virtual ~SweepWorkers() = default;

  /// How many processes there are, this one included; 1: there are no others.
  virtual std::uint32_t processes() const = 0;
  /// Whether this one hands the points out and writes what comes of them. One of them does.
  virtual bool leads() const = 0;

  /// Where it leads: takes what has come in, and gives each process that asks points of `next`, which returns false
  /// where there are none any more. Does not wait. Throws SimulationError "mpi".
  virtual std::vector<SweepOutcome> serve(const std::function<bool(std::uint64_t&)>& next) = 0;
  /// Where it leads: points that others have and that have not come back, and others that have not yet taken leave.
  virtual std::size_t under_way() const = 0;

  /// Where it does not lead: simulates points that the leader hands out until there are none any more.
  virtual void work(const SweepOrder& order, std::uint32_t threads, const std::function<bool()>& interrupted) = 0;
};

/// Those that mpirun or srun has started; this process alone where neither did, or where athanor was built without MPI.
/// Throws SimulationError "mpi" where several were started and MPI does not join them.
std::unique_ptr<SweepWorkers> sweep_workers();

/// This process alone.
class LoneWorker : public SweepWorkers {
 public:
  std::uint32_t processes() const override { return 1; }
  bool leads() const override { return true; }
  std::vector<SweepOutcome> serve(const std::function<bool(std::uint64_t&)>& /*next*/) override { return {}; }
  std::size_t under_way() const override { return 0; }
  void work(const SweepOrder& /*order*/, std::uint32_t /*threads*/,
            const std::function<bool()>& /*interrupted*/) override {}
};

/// How many processes a launcher says that it has started, this one among them; 1: no launcher says anything.
std::uint32_t launched_processes();

/// Outcomes as one process sends them to another.
std::string pack(const std::vector<SweepOutcome>& outcomes);
/// Requires what pack() returned.
std::vector<SweepOutcome> unpack(std::string_view text);

}  // namespace athanor
