#include "models/software/transports.hpp"

namespace athanor {

const std::vector<Transport>& transports() {
  static const std::vector<Transport> kAll{
      {"ib", "NCCL's own, over InfiniBand with GPUDirect RDMA"},
      {"roce", "NCCL's own, over Ethernet with RoCE and GPUDirect RDMA"},
      {"efa", "aws-ofi-nccl over AWS's EFA, with GPUDirect RDMA"},
      {"efa-host", "aws-ofi-nccl over AWS's EFA, by the memory of the host"},
      {"cxi", "aws-ofi-nccl over HPE's Slingshot"},
      {"gib", "Google's gIB over RoCE", true},
      {"tcpx", "Google's GPUDirect-TCPX", true},
      {"tcpxo", "Google's GPUDirect-TCPXO (FasTrak)", true},
  };
  return kAll;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const Transport& each : transports()) { names.emplace_back(each.name); }
  return names;
}

}  // namespace athanor
