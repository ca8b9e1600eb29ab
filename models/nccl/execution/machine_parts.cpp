#include "models/nccl/execution/machine_parts.hpp"

#include "models/software/profile.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// What the rings of a node run over.
std::string link_of(const NcclCommunicator& communicator) {
  if (communicator.most_local_ranks < 2) { return ""; }
  const NcclPath path = communicator.graphs.ring.type_intra;
  const bool direct = path == NcclPath::nvl || path == NcclPath::nvb || path == NcclPath::c2c;
  if (!direct) { return "pcie"; }
  return communicator.rccl ? "xgmi" : "nvlink";
}

}  // namespace

StackParts machine_parts(const Cluster& cluster, const NcclCommunicator& communicator, const std::string& transport) {
  StackParts parts;
  parts.rccl = communicator.rccl;
  parts.gpu = gpu_generation(gpu_name(cluster));
  parts.link = link_of(communicator);
  if (communicator.nodes > 1) { parts.transport = transport; }
  return parts;
}

}  // namespace athanor
