#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/engines/engine.hpp"
#include "models/engines/engine_sites.hpp"
#include "models/execution/bound.hpp"
#include "models/execution/simulate.hpp"

namespace athanor {

struct Profile;
struct Cluster;

struct Algorithm;
class NcclRuntime;

/// What a user may fix instead of leaving it to the profile.
struct Overrides {
  std::optional<std::string> protocol;
  std::optional<std::uint32_t> channels;
  std::optional<Bytes> chunk;
  std::optional<std::uint32_t> slices;
  std::optional<bool> rotate;
  std::optional<std::uint32_t> group;
  std::optional<Dimensions> dimensions;
  std::optional<std::uint32_t> rings;
};

/// One collective of one size on one cluster, with the algorithms that may carry it out.
struct RunRequest {
  const Cluster& cluster;
  const Profile& profile;
  Collective collective;  ///< its count is that of the payload in elements
  Bytes element_size{4};
  std::vector<const Algorithm*> algorithms;
  Overrides overrides;
  SimulationOptions options;  ///< a timeline draws the fastest candidate only
  std::uint64_t seed = 1;     ///< of routing
  /// Of the switches of the network; null: they do not reduce and multicast.
  std::shared_ptr<const EngineDeployment> aggregation = nullptr;
  TreeSource trees = nullptr;         ///< grants trees of the engines; null: no other job has any
  DataType type = DataType::float32;  ///< what engines are asked to add ...
  Reduction reduction = Reduction::sum;
  std::shared_ptr<const NcclRuntime> nccl = nullptr;  ///< where the profile has "nccl": it says what runs, and how
  std::uint32_t calls = 1;  ///< that follow each other; where there are several, what one of them takes counts
};

/// Calls back to back, launches included.
struct BackToBack {
  Time latency;       ///< of one by itself, until its last rank is done
  Time period;        ///< from call to call, once the loop has settled
  bool exact = true;  ///< it repeats to the picosecond; else the period is that of the later half of the calls
};

/// The candidate that took least time; ties go to the algorithm and protocol named first.
struct RunResult {
  std::string algorithm;
  const Algorithm* chosen = nullptr;  ///< the algorithm with this name, among those of the request
  std::string protocol;
  std::uint32_t channels = 1;
  Bytes size;  ///< count x element size
  Time time;   ///< of one call until its last rank is done; of several, by call, until a rank is done in the mean
  std::optional<BackToBack> calls = {};  ///< where several follow each other
  Bound bound;                           ///< of the hardware, with its engines where a candidate uses them
  std::string limited_by;                ///< the busiest link by kind and ends, "launch", "latency" or "transfers, ..."
  bool extrapolated = false;             ///< outside the domain in which the profile was fitted
  std::vector<std::string> roots;        ///< of trees in the network: the names of their top switches
  std::string fell_back;                 ///< why a fallback of the engines' algorithms ran; "": none did
  bool padded = false;                   ///< priced at the next size that is cut into equal pieces
  std::optional<AggregationJobResult> slots = {};  ///< of what ran packet by packet over memory of switches
  Simulated simulated;                             ///< of one call
  std::vector<std::string> notes;  ///< which algorithms did not fit and why; a time that no hardware reaches
};

/// In which its links carried their loads, launch included.
inline Time observed(const RunResult& result) {
  const Time time = result.calls ? result.calls->latency : result.time;
  return time + std::max(Time::zero(), result.simulated.network.observed - result.simulated.time);
}

/// Simulates every pair of an algorithm and a protocol that fit, and returns the fastest. What adds up packet by packet
/// in switches (see goes_by_packets()) is simulated so.
/// Throws SimulationError("no-candidate") with the reasons when none fits; and as simulate() and run_aggregation().
RunResult run_collective(const RunRequest& request);

/// Why no protocol of the profile can run the algorithm for this request, or nothing.
std::optional<std::string> why_not(const RunRequest& request, const Algorithm& algorithm);

/// algbw and busbw in 1e9 bytes/s as nccl-tests defines them: size / time, times 2(R-1)/R for all-reduce, (R-1)/R for
/// all-gather, reduce-scatter and all-to-all, 1 for the others.
double algorithm_bandwidth(Bytes size, Time time);
double bus_factor(CollectiveKind kind, std::uint32_t ranks);
double bus_bandwidth(const Collective& collective, Bytes size, Time time);

}  // namespace athanor
