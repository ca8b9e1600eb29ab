#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "algorithms/reduction.hpp"
#include "models/engines/nic_offload.hpp"
#include "models/execution/run_jobs.hpp"
#include "sim/error.hpp"
#include "tools/bill/bill.hpp"
#include "tools/scenario/group_pricing.hpp"
#include "tools/scenario/jobs_section.hpp"
#include "tools/scenario/library.hpp"
#include "tools/scenario/measurement.hpp"
#include "tools/scenario/parameter_server_section.hpp"
#include "tools/scenario/sweep/plan.hpp"
#include "tools/scenario/trace_section.hpp"
#include "tools/scenario/traffic_section.hpp"
#include "tools/scenario/training_section.hpp"
#include "topologies/link_scaling.hpp"

namespace athanor {

/// What a case is held against.
struct Verification {
  Measurement measurement;
  std::optional<Ratio> max_error;         ///< of |simulated / measured - 1|, at any size
  std::optional<Ratio> max_median_error;  ///< of the same, over all sizes and algorithms
  Bytes from;                             ///< sizes that count
  Bytes to = Bytes::max();
};

/// One collective, or point-to-point traffic, or training with parameter servers, on one cluster over a range of sizes.
struct Case {
  std::string name;
  std::size_t place = 0;                            ///< among the file's cases, from 0
  std::shared_ptr<const Cluster> cluster;           ///< shared by cases whose "cluster", routing and seed are the same
  std::shared_ptr<const ClusterText> cluster_text;  ///< that it was made from
  PriceList prices;                                 ///< of its parts, as far as the scenario says them
  NetworkLevel level = NetworkLevel::flow;
  PacketSettings packet;  ///< at packet level
  std::uint32_t queue_pairs = 1;
  std::shared_ptr<const EngineDeployment> aggregation;  ///< of the switches of the network; null: they have no engines
  std::shared_ptr<const TrafficText> traffic;  ///< resolved; null: a collective. What follows up to the profile is of
                                               ///< collectives, but `ranks` and `sizes`, which are those of messages
  /// Resolved; null: none. In place of a collective, too; `sizes` are those of the parameters.
  std::shared_ptr<const ParameterServerText> parameter_server;
  std::shared_ptr<const Training> training;    ///< null: none; in place of a collective, too
  std::shared_ptr<const nlohmann::json> text;  ///< as it was read, its patch applied; only with an open plan
  std::shared_ptr<const TraceText> trace;      ///< null: none; in place of a collective, too
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;       ///< of each job
  std::optional<JobsText> jobs;  ///< none: one collective alone
  std::uint32_t root = 0;
  bool in_place = false;
  std::optional<NicOffload> offload;  ///< NICs carry collectives out; its costs are in `profile` already
  std::optional<Time> compute;        ///< of hosts, beside the collective
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<Bytes> sizes;
  std::vector<const Algorithm*> algorithms;               ///< candidates; the fastest at each size counts
  bool each_algorithm = false;                            ///< is reported instead, where it fits
  std::vector<std::shared_ptr<const Algorithm>> imports;  ///< those among them that are not the catalog's
  std::shared_ptr<const ExchangeSizes> exchange;          ///< of all-to-all-v; `sizes` then holds its payload
  Overrides overrides;
  Profile profile;
  NcclSource nccl_groups;                   ///< of training, where the profile has "nccl"
  std::shared_ptr<const NcclRuntime> nccl;  ///< on the cluster and its ranks; null where the profile has no "nccl"
  std::optional<Verification> verification;
  std::uint64_t seed = 1;
  std::vector<std::uint64_t> seeds;  ///< of repetitions, whose spread is reported; empty: one run, with `seed`

  /// The same case with one of its seeds after the other; itself where it has none.
  std::vector<Case> repetitions() const;
  /// What is asked of the collective for a payload of `size`.
  Collective collective(Bytes size) const;
  /// What is to be run. Borrows from the case.
  RunRequest request(Bytes size, const SimulationOptions& options) const;
  /// The same of several jobs. Requires that there are.
  JobsRequest jobs_request(Bytes size, const SimulationOptions& options) const;
};

/// What to look for in measurements of such a case, carried out by that algorithm, whose name is borrowed.
Measurement::Wanted measured_like(const Case& scenario_case, std::string_view algorithm);

/// A scenario file, ready to run.
struct Scenario {
  std::string path;
  std::string name;
  std::string hash;                    ///< of the file's text
  bool has_cases = false;              ///< else it is itself the only case
  std::vector<Case> cases;             ///< at least one
  std::shared_ptr<TraceShelf> traces;  ///< that it was read with
  std::vector<SweepAxis> sweep;        ///< what `athanor sweep` varies; all else simulates the file as it stands
};

/// What the command line puts above the file.
struct ScenarioChanges {
  std::vector<std::string> settings;  ///< "/pointer=value"; win over cases too
  std::vector<std::string> cases;     ///< names of those to keep; empty: all
  std::optional<std::size_t> only;    ///< reads this one of the file's cases; the others are not looked at
  std::optional<std::vector<Bytes>> sizes;
  std::optional<std::uint64_t> seed;
  std::vector<LinkScaling> links;      ///< of all clusters
  std::shared_ptr<TraceShelf> traces;  ///< of another reading, so that none is read twice; null: its own
  /// A training's plan is to be searched: what is wrong with the one that stands there is Training::plan_fault.
  bool open_plan = false;
};

/// Reads scenarios, and keeps what the next one may need, too: presets, a few clusters, algorithms and traces from
/// files. For one thread.
class ScenarioReader {
 public:
  explicit ScenarioReader(const Library& library);
  ~ScenarioReader();
  ScenarioReader(const ScenarioReader&) = delete;
  ScenarioReader& operator=(const ScenarioReader&) = delete;

  /// Reads a scenario and builds its clusters. All that is wrong with it is added to `problems`, and then the result
  /// is not to be used. Throws FileError for the file itself, UsageError for settings and case names that do not fit.
  Scenario read(const std::string& path, const ScenarioChanges& changes, Problems& problems);

 private:
  struct Shelves;
  const Library& library_;
  std::unique_ptr<Shelves> shelves_;
};

/// The same of one file alone.
Scenario read_scenario(const std::string& path, const Library& library, const ScenarioChanges& changes,
                       Problems& problems);

/// The JSON Schema (draft-07) of what read_scenario accepts.
nlohmann::json scenario_schema(const Library& library);

}  // namespace athanor
