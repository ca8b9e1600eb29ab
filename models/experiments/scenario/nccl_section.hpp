#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/cluster_section.hpp"
#include "models/nccl/execution/communicator.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Cluster;
class FileReader;
struct Platform;
struct Profile;

/// The "nccl" of a scenario: what NCCL is told, and what it sees in place of the cluster.
struct NcclSection {
  std::optional<NcclVersion> version;  ///< none: the profile's
  std::map<std::string, std::string> environment;
  std::string topology;  ///< path of a topology file; "": as the cluster is
  std::string graphs;    ///< path of a graph file; "": as NCCL would search
  bool registered_buffers = false;
  bool gpu_direct = true;
};

void visit(Fields& fields, NcclSection& section);
/// The "nccl" of a case, if it has one; its profile then has costs of NCCL, if only none.
std::optional<NcclSection> read_nccl(Fields& fields, Profile& profile);

/// The section with "pxn" of the network, which is its NCCL_PXN_DISABLE in other words: NCCL chooses NICs itself.
/// `own`: jobs have sections of their own.
std::optional<NcclSection> with_pxn(Fields& fields, std::optional<NcclSection> section, std::optional<bool> pxn,
                                    const Profile& profile, bool own);

/// NCCL as a section tells it on the first `ranks` endpoints of a platform, which has no others; null where it would
/// end with an error, or is not modelled; `problems` says why, at `place`: that of the section.
std::shared_ptr<const NcclRuntime> resolve_nccl(const NcclSection& section, const Platform& platform,
                                                std::uint32_t ranks, const SourceLocation& place,
                                                const FileReader& files, Problems& problems);

/// The same for groups that are known only while a workload is made; found once for all that are in their nodes alike.
/// The source throws ScenarioError where NCCL would end with an error.
NcclSource nccl_of_groups(const std::optional<NcclSection>& section, const SourceLocation& place,
                          const FileReader& files, const Platform& platform);

/// What decides the picture that NCCL has of a cluster's endpoints beside its section: where in their nodes they are.
std::vector<std::uint32_t> places_of(const Cluster& cluster);

/// What NCCL does not reach directly goes by host memory, in a cluster that is built anew. Returns whether anything
/// changes.
bool restrict_access(const NcclAccess& access, ClusterCache::Request& order);

}  // namespace athanor
