#include "models/software/transports.hpp"

namespace athanor {

const std::vector<Transport>& transports() {
  static const std::vector<Transport> kAll{
      {"ib", "NCCL's own, over InfiniBand with GPUDirect RDMA"},
      {"roce", "NCCL's own, over Ethernet with RoCE and GPUDirect RDMA"},
      {"efa", "aws-ofi-nccl over AWS's EFA, with GPUDirect RDMA", "EFA"},
      {"efa-host", "aws-ofi-nccl over AWS's EFA, by the memory of the host", "EFA-100"},
      {"cxi", "aws-ofi-nccl over HPE's Slingshot", "Slingshot"},
      {"gib", "Google's gIB over RoCE", "", true},
      {"tcpx", "Google's GPUDirect-TCPX", "", true},
      {"tcpxo", "Google's GPUDirect-TCPXO (FasTrak)", "gVNIC", true},
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
  if (transport == usual) { return true; }
  constexpr auto kOwn = [](std::string_view each) { return each == "ib" || each == "roce"; };
  constexpr auto kEfa = [](std::string_view each) { return each.starts_with("efa"); };
  constexpr auto kGoogle = [](std::string_view each) { return each == "gib" || each.starts_with("tcpx"); };
  return (kOwn(usual) && kOwn(transport)) || (kEfa(usual) && kEfa(transport)) ||
         (usual == "roce" && kGoogle(transport));
}

}  // namespace athanor
