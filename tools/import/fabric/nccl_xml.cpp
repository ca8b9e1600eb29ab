#include "tools/import/fabric/nccl_xml.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/topology_file.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr Time kNicForwarding{300'000};
constexpr std::int64_t kUnknownMegabits = 10'000;

Link times(Link link, std::int64_t count) {
  link.rate = link.rate * count;
  link.usable = link.usable * count;
  return link;
}

/// Draws one machine.
class NcclMachine {
 public:
  NcclMachine(NcclTopology topology, FabricDraft& draft) : topology_(std::move(topology)), draft_(draft) {}

  DraftPort draw() {
    if (topology_.unranked > 0) { draft_.note(fmt::format("{} GPUs without a rank are left out", topology_.unranked)); }
    for (NcclTopology::Cpu& cpu : topology_.cpus) { collect(cpu.below, cpu.nets); }
    add_gpus();
    DraftPort port = add_nics();
    if (!draft_.ok()) { return {}; }
    for (const NcclTopology::Cpu& cpu : topology_.cpus) { add_cpu(cpu); }
    join_cpus();
    join_gpus();
    note_speeds();
    draft_.set_identity(identity());
    if (draft_.ok()) { draft_.check_connected("two CPUs of one host are joined by their <cpu> elements"); }
    return port;
  }

 private:
  using Gpu = NcclTopology::Gpu;
  using Net = NcclTopology::Net;
  struct NamedGpu {
    const Gpu* gpu = nullptr;
    std::string bus;
    std::uint32_t cpu = 0;  ///< device
  };

  void collect(std::vector<NcclTopology::Pci>& pcis, std::vector<Net>& nets) {
    for (Net& net : nets) { nets_.push_back(&net); }
    for (NcclTopology::Pci& pci : pcis) {
      if (pci.gpu) { gpus_.push_back({&*pci.gpu, pci.bus, 0}); }
      collect(pci.below, pci.nets);
    }
  }

  void add_gpus() {
    std::stable_sort(gpus_.begin(), gpus_.end(),
                     [](const NamedGpu& a, const NamedGpu& b) { return a.gpu->dev < b.gpu->dev; });
    for (const NamedGpu& each : gpus_) {
      devices_[each.gpu] = draft_.add(fmt::format("gpu{}", each.gpu->dev), VertexKind::gpu, each.gpu->line);
    }
  }

  DraftPort add_nics() {
    std::int64_t fastest = 0;
    for (Net* net : nets_) {
      if (net->megabits == 0) {
        draft_.note(fmt::format("{} has no speed and is taken for 10 Gb/s, as NCCL does", net->name));
        net->megabits = kUnknownMegabits;
      }
      fastest = std::max(fastest, net->megabits);
    }
    std::stable_sort(nets_.begin(), nets_.end(), [](const Net* a, const Net* b) { return a->dev < b->dev; });
    for (const Net* net : nets_) {
      if (net->megabits < fastest) {
        draft_.note(fmt::format("{} of {} Mb/s is left out: others have {}", net->name, net->megabits, fastest));
        continue;
      }
      const std::string name = net->name.empty() ? fmt::format("nic{}", net->dev) : net->name;
      devices_[net] = draft_.add(name, VertexKind::nic, net->line);
    }
    return {"", Bandwidth{fastest * 125'000}, kNicForwarding};
  }

  bool is_kept(const NcclTopology::Pci& pci) const {
    const auto kept = [&](const Net& net) { return devices_.contains(&net); };
    const auto below = [&](const NcclTopology::Pci& each) { return is_kept(each); };
    return pci.gpu || std::any_of(pci.nets.begin(), pci.nets.end(), kept) ||
           std::any_of(pci.below.begin(), pci.below.end(), below);
  }

  void add_cpu(const NcclTopology::Cpu& cpu) {
    const auto kept = [&](const Net& net) { return devices_.contains(&net); };
    const auto below = [&](const NcclTopology::Pci& each) { return is_kept(each); };
    if (std::none_of(cpu.nets.begin(), cpu.nets.end(), kept) &&
        std::none_of(cpu.below.begin(), cpu.below.end(), below)) {
      return;
    }
    const std::string name = fmt::format("cpu{}", cpu.numa < 0 ? static_cast<std::int64_t>(cpus_.size()) : cpu.numa);
    const std::uint32_t device = draft_.add(name, VertexKind::cpu, cpu.line);
    cpus_.push_back({&cpu, device});
    for (const NcclTopology::Pci& pci : cpu.below) { add_pci(pci, device); }
    add_ports(cpu.nets, device, nccl_local(), "", cpu.line);
  }

  void add_pci(const NcclTopology::Pci& pci, std::uint32_t above) {
    if (!is_kept(pci)) { return; }
    if (!nccl_knows_pcie_speed(pci.speed)) { ++unknown_speeds_; }
    const Link link = nccl_pcie(pci.speed, pci.width);
    if (pci.gpu) {
      draft_.connect(devices_[&*pci.gpu], above, link);
      for (NamedGpu& each : gpus_) {
        if (each.gpu == &*pci.gpu) { each.cpu = cpus_.back().device; }
      }
    } else if (!pci.nets.empty()) {
      add_ports(pci.nets, above, link, pci.bus, pci.line);
    } else {
      const std::uint32_t bridge = draft_.add("pcie " + pci.bus, VertexKind::pcie_switch, pci.line);
      draft_.connect(bridge, above, link);
      for (const NcclTopology::Pci& child : pci.below) { add_pci(child, bridge); }
      for (const std::string& peer : pci.peers) { add_peer(peer, bridge); }
    }
  }

  /// Several ports of one NIC share its PCIe link.
  void add_ports(const std::vector<Net>& nets, std::uint32_t above, const Link& link, const std::string& bus,
                 int line) {
    std::vector<std::uint32_t> ports;
    for (const Net& net : nets) {
      if (const auto found = devices_.find(&net); found != devices_.end()) { ports.push_back(found->second); }
    }
    if (ports.size() == 1) { draft_.connect(ports[0], above, link); }
    if (ports.size() < 2) { return; }
    const std::uint32_t shared = draft_.add("ports of " + bus, VertexKind::pcie_switch, line);
    draft_.connect(shared, above, link);
    for (const std::uint32_t port : ports) { draft_.connect(port, shared, nccl_local()); }
  }

  /// Two switches that pass traffic to each other directly, listed at both.
  void add_peer(const std::string& peer, std::uint32_t bridge) {
    const auto other = draft_.find("pcie " + peer);
    if (other && *other != bridge) { draft_.connect(bridge, *other, nccl_local()); }
  }

  void join_cpus() {
    for (std::size_t b = 1; b < cpus_.size(); ++b) {
      const CpuIdentity& cpu = cpus_[b].cpu->identity;
      const std::optional<Link> link = nccl_socket(cpu);
      if (!link) {
        draft_.problem(cpus_[b].cpu->line, "unknown-rate",
                       fmt::format("<cpu>: NCCL has no rate between CPUs of arch '{}', vendor '{}', family {}",
                                   cpu.arch, cpu.vendor, cpu.family),
                       "it knows Intel's family 6, AMD, ARM and POWER");
        return;
      }
      for (std::size_t a = 0; a < b; ++a) { draft_.connect(cpus_[a].device, cpus_[b].device, *link); }
    }
  }

  void join_gpus() {
    std::map<std::string, const NamedGpu*> by_bus;
    bool switched = false;
    for (const NamedGpu& each : gpus_) {
      const std::uint32_t device = devices_[each.gpu];
      by_bus[each.bus] = &each;
      switched = switched || each.gpu->to_nvswitch > 0;
      if (each.gpu->c2c > 0) { draft_.connect(device, each.cpu, nccl_c2c(each.gpu->c2c)); }
      if (each.gpu->to_cpu > 0) { draft_.connect(device, each.cpu, times(nvlink(*each.gpu), each.gpu->to_cpu)); }
    }
    for (const NcclTopology::Cable& cable : topology_.cables) {
      const Gpu& a = *by_bus.at(cable.a)->gpu;
      const Gpu& b = *by_bus.at(cable.b)->gpu;
      const bool a_is_older = a.compute_capability < b.compute_capability;
      draft_.connect(devices_[&a], devices_[&b], times(nvlink(a_is_older ? a : b), cable.count));
    }
    if (!switched) { return; }
    const std::uint32_t nvswitch = draft_.add("nvswitch0", VertexKind::nvswitch, 0);
    for (const NamedGpu& each : gpus_) {
      if (each.gpu->to_nvswitch == 0) { continue; }
      draft_.connect(devices_[each.gpu], nvswitch, times(nvlink(*each.gpu), each.gpu->to_nvswitch));
    }
  }

  /// One. A GPU with NVLinks has a known rate: the file was checked.
  static Link nvlink(const Gpu& gpu) { return *nccl_nvlink(static_cast<int>(*gpu.compute_capability)); }

  /// Of the first GPU and CPU.
  NodeIdentity identity() const {
    NodeIdentity found;
    if (!gpus_.empty()) {
      found.compute_capability = gpus_.front().gpu->compute_capability;
      found.gpu_direct = gpus_.front().gpu->gdr;
    }
    if (!cpus_.empty()) { found.cpu = cpus_.front().cpu->identity; }
    return found;
  }

  void note_speeds() {
    if (unknown_speeds_ == 0) { return; }
    draft_.note(fmt::format("{} PCIe links have no speed that is known and are taken for PCIe 3, as NCCL does",
                            unknown_speeds_));
  }

  struct PlacedCpu {
    const NcclTopology::Cpu* cpu = nullptr;
    std::uint32_t device = 0;
  };

  NcclTopology topology_;
  FabricDraft& draft_;
  std::vector<NamedGpu> gpus_;
  std::vector<Net*> nets_;
  std::vector<PlacedCpu> cpus_;
  std::map<const void*, std::uint32_t> devices_;  // of GPUs and nets; never iterated
  std::size_t unknown_speeds_ = 0;
};

}  // namespace

DraftPort import_nccl_xml(std::string_view text, const std::string& file, FabricDraft& draft) {
  Problems problems;
  NcclTopology topology = parse_nccl_topology(text, file, problems);
  for (const Problem& found : problems.list()) {
    draft.problem(found.place.line, found.code, found.message, found.hint);
  }
  return draft.ok() ? NcclMachine(std::move(topology), draft).draw() : DraftPort{};
}

}  // namespace athanor
