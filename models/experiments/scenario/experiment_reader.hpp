#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/cluster_section.hpp"
#include "models/experiments/scenario/nccl_section.hpp"
#include "models/experiments/scenario/network_section.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/scenario/software_section.hpp"
#include "models/experiments/verification.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"

namespace athanor {

class SynthesisCache;
class TraceCache;

/// What the cases of one scenario share while they are read.
struct ReadingContext {
  FileReader files;  ///< relative names start in the folder of the scenario file
  const Library& library;
  const ScenarioChanges& changes;
  Problems& problems;
  ClusterCache& clusters;
  ImportCache& imports;
  TraceCache& traces;
  PoolCache& pools;
  SynthesisCache& syntheses;
};

/// What has been read of a case beside the section of its experiment.
struct CaseParts {
  Fields& fields;  ///< of the whole case, of whose keys problems are told
  ReadingContext& context;
  Case& scenario_case;  ///< its platform as far as it has been read; no cluster: that has problems
  NetworkSection network = {};
  ClusterCache::Request order = {};  ///< from which the cluster was built
  std::optional<NcclSection> nccl = {};
  std::optional<SoftwareSection> software = {};
  std::optional<Verification> verification = {};

  Platform& platform() const { return scenario_case.platform; }
};

/// Reads the section of one kind of experiment, and makes the experiment of it. One lives for each case and kind.
class ExperimentReader {
 public:
  virtual ~ExperimentReader() = default;

  /// Declares and reads the keys of the section.
  virtual void visit(Fields& section, ReadingContext& context) = 0;
  /// The section on the case's cluster, once it has been read without a problem.
  virtual void fit(CaseParts& /*parts*/) {}
  /// The experiment, once the whole case has been read without a problem; null where there are problems now. May change
  /// the case's platform.
  virtual std::shared_ptr<const Experiment> make(CaseParts& parts) = 0;
};

/// The cluster of the order, routed as the network says and with the platform's seed.
void build_cluster(CaseParts& parts);

/// Where NICs carry collectives out, the platform's profile is theirs from then on. Reports what that does not go with.
std::optional<NicOffload> take_offload(CaseParts& parts);

/// What follows for the platform from what NCCL finds on it: queue pairs, and memory that it does not reach directly.
void follow_nccl(const NcclRuntime& runtime, CaseParts& parts);

/// Of workloads, whose collectives run among groups of ranks that are known only while they are simulated: engines and
/// NCCL on the platform. None: there are problems.
std::optional<WorkloadNccl> prepare_workload(std::uint32_t ranks, CaseParts& parts);

/// Reports what experiments without software do not go with: `what` is "traffic", ....
void refuse_software(std::string_view what, CaseParts& parts);

}  // namespace athanor
