#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/nccl/execution/communicator.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/profile.hpp"
#include "sim/json/object_reader.hpp"
#include "tools/scenario/cluster_section.hpp"

namespace athanor {

struct Case;

/// The "nccl" of a scenario: what NCCL is told, and what it sees in place of the cluster.
struct NcclSection {
  std::optional<NcclVersion> version;  ///< none: the profile's
  std::map<std::string, std::string> environment;
  std::string topology;  ///< path of a topology file; "": as the cluster is
  std::string graphs;    ///< path of a graph file; "": as NCCL would search
  bool registered_buffers = false;
  bool gpu_direct = true;
};

void read(ObjectReader& reader, NcclSection& section);
/// The "nccl" of a case, if it has one; its profile then has costs of NCCL, if only none.
std::optional<NcclSection> read_nccl(ObjectReader& reader, Profile& profile);

/// Where all algorithms may be taken: those that NCCL has.
void leave_to_nccl(Case& scenario_case);

/// The section with "pxn" of the network, which is its NCCL_PXN_DISABLE in other words: NCCL chooses NICs itself.
std::optional<NcclSection> with_pxn(ObjectReader& reader, std::optional<NcclSection> section, std::optional<bool> pxn,
                                    const Case& scenario_case);

/// NCCL on the cluster of a case, whose ranks are known, and on the endpoints of each of its jobs. `place`: of the
/// section. False where NCCL would end with an error, or is not modelled; `problems` says why.
bool take_nccl(const std::optional<NcclSection>& section, const Place& place, const std::string& directory,
               Problems& problems, Case& scenario_case);

/// NCCL as a section tells it on all endpoints of a case's cluster that have ranks; null where it ends with an error.
std::shared_ptr<const NcclRuntime> resolve_nccl(const NcclSection& section, const Case& scenario_case,
                                                const Place& place, const std::string& directory, Problems& problems);

/// What decides the picture that NCCL has of a cluster's endpoints beside its section: where in their nodes they are.
std::vector<std::uint32_t> places_of(const Cluster& cluster);

/// What NCCL does not reach directly goes by host memory, in a cluster that is built anew. Returns whether anything
/// changes.
bool restrict_access(const NcclAccess& access, ClusterWorkshop::Order& order);

/// What variables of the environment do not do, in a sentence each.
std::vector<std::string> nccl_warnings(const Case& scenario_case);

}  // namespace athanor
