#include "models/software/transports.hpp"

#include <algorithm>

namespace athanor {

const std::vector<Transport>& transports() {
  static const std::vector<Transport> kAll{
      {"ib", "NCCL's own, over InfiniBand with GPUDirect RDMA", "", false, "roce"},
      {"roce", "NCCL's own, over Ethernet with RoCE and GPUDirect RDMA", "", false, "ib"},
      {"efa", "aws-ofi-nccl over AWS's EFA, with GPUDirect RDMA", "EFA", false, "efa-host"},
      {"efa-host", "aws-ofi-nccl over AWS's EFA, by the memory of the host", "EFA-100", false, "efa"},
      {"cxi", "aws-ofi-nccl over HPE's Slingshot", "Slingshot"},
      {"gib", "Google's gIB over RoCE", "", true, "roce"},
      {"tcpx", "Google's GPUDirect-TCPX", "", true, "roce"},
      {"tcpxo", "Google's GPUDirect-TCPXO (FasTrak)", "gVNIC", true, "roce"},
  };
  return kAll;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const Transport& each : transports()) { names.emplace_back(each.name); }
  return names;
}

std::string_view usual_transport(std::string_view nic, bool infiniband) {
  const Transport* own = nullptr;
  for (const Transport& each : transports()) {
    if (each.nics.empty() || !nic.starts_with(each.nics)) { continue; }
    if (own == nullptr || each.nics.size() > own->nics.size()) { own = &each; }
  }
  if (own != nullptr) { return own->name; }
  return infiniband ? "ib" : "roce";
}

bool may_drive(std::string_view transport, std::string_view usual) {
  return transport == usual || std::any_of(transports().begin(), transports().end(), [&](const Transport& each) {
           return each.name == transport && !each.also.empty() && each.also == usual;
         });
}

}  // namespace athanor
