#include "models/nccl/machine/topology_system.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "models/nccl/machine/link_rates.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kUnknownMegabits = 10'000;

std::int64_t megabytes(Bandwidth rate) { return rate.count() / 1'000'000; }

/// Broadcom's switches of the fourth and fifth generation show as two levels of switches, the upper and the lower of
/// which have these models, but pass everything on at full rate.
int two_level_generation(std::uint64_t model, std::uint64_t level) {
  const std::uint64_t series = model & 0xffff'ffff'ffff'f000U;
  if (series == 0x1000'c010'1000'a000U) { return 4; }
  return series == (0x1000'c030'1000'0000U | (level << 12U)) ? 5 : 0;
}

void flatten(NcclTopology::Pci& pci) {
  const int generation = two_level_generation(pci.model, 0);
  if (generation != 0) {
    std::vector<NcclTopology::Pci> direct;
    std::vector<NcclTopology::Pci> through;
    for (NcclTopology::Pci& child : pci.below) {
      if (child.below.empty() || two_level_generation(child.model, 1) != generation) {
        direct.push_back(std::move(child));
      } else {
        std::move(child.below.begin(), child.below.end(), std::back_inserter(through));
      }
    }
    pci.below = std::move(direct);
    std::move(through.begin(), through.end(), std::back_inserter(pci.below));
  }
  for (NcclTopology::Pci& child : pci.below) { flatten(child); }
}

/// Makes the system of one file.
class SystemMaker {
 public:
  explicit SystemMaker(NcclTopology topology) : topology_(std::move(topology)) {}

  NcclSystem make() {
    for (NcclTopology::Cpu& cpu : topology_.cpus) {
      for (NcclTopology::Pci& pci : cpu.below) { flatten(pci); }
      add_cpu(cpu);
    }
    for (const auto& [vertex, gpu] : gpus_) { add_nvlinks(vertex, *gpu); }
    for (const NcclTopology::Cable& cable : topology_.cables) { add_cable(cable); }
    for (const auto& [bridge, peer] : peers_) {
      if (const auto other = bridges_.find(peer); other != bridges_.end()) {
        connect(system_, bridge, {other->second, NcclLinkKind::loc, kNcclLocal, 0});
      }
    }
    join_cpus();
    sort_links(system_);
    rank_gpus();
    return std::move(system_);
  }

 private:
  void add_cpu(const NcclTopology::Cpu& cpu) {
    cpu_ = add_vertex(system_, NcclDevice::cpu);
    system_.cpus.push_back({cpu_, cpu.identity});
    for (const NcclTopology::Pci& pci : cpu.below) { add_pci(pci, cpu_); }
    if (cpu.nets.empty()) { return; }
    const std::uint32_t nic = add_vertex(system_, NcclDevice::nic);
    connect_both(system_, nic, cpu_, NcclLinkKind::pci, kNcclLocal);
    add_nets(cpu.nets, nic);
  }

  void add_pci(const NcclTopology::Pci& pci, std::uint32_t above) {
    const std::int64_t rate = megabytes(nccl_pcie(pci.speed, pci.width).usable);
    if (pci.gpu) {
      const std::uint32_t vertex = add_vertex(system_, NcclDevice::gpu);
      connect_both(system_, vertex, above, NcclLinkKind::pci, rate);
      add_gpu(*pci.gpu, pci.bus, vertex);
    } else if (!pci.nets.empty()) {
      add_nic(pci, above, rate);
    } else {
      const std::uint32_t bridge = add_vertex(system_, NcclDevice::pci);
      bridges_[pci.bus] = bridge;
      for (const std::string& peer : pci.peers) { peers_.emplace_back(bridge, peer); }
      for (const NcclTopology::Pci& child : pci.below) { add_pci(child, bridge); }
      connect_both(system_, bridge, above, NcclLinkKind::pci, rate);
    }
  }

  void add_gpu(const NcclTopology::Gpu& gpu, const std::string& bus, std::uint32_t vertex) {
    system_.gpus.push_back({vertex, 0, gpu.dev, gpu.compute_capability, gpu.gdr, true, ""});
    gpus_.emplace_back(vertex, &gpu);
    vertices_[bus] = vertex;
    cpu_of_[vertex] = cpu_;
    capabilities_[vertex] = static_cast<int>(gpu.compute_capability.value_or(0));
  }

  /// Functions of one device, whose bus ids differ in the last digit, are one NIC.
  void add_nic(const NcclTopology::Pci& pci, std::uint32_t above, std::int64_t rate) {
    const auto [known, is_new] = nics_.emplace(pci.bus.substr(0, pci.bus.size() - 1), 0);
    if (is_new) {
      known->second = add_vertex(system_, NcclDevice::nic);
      connect_both(system_, known->second, above, NcclLinkKind::pci, rate);
    }
    add_nets(pci.nets, known->second);
  }

  void add_nets(const std::vector<NcclTopology::Net>& nets, std::uint32_t nic) {
    for (const NcclTopology::Net& net : nets) {
      const std::int64_t rate = (net.megabits == 0 ? kUnknownMegabits : net.megabits) / 8;
      const std::uint32_t vertex = add_vertex(system_, NcclDevice::net);
      connect_both(system_, nic, vertex, NcclLinkKind::net, rate);
      system_.nets.push_back(
          {vertex, net.dev, rate, net.latency, net.gdr, net.reduces, net.guid.value_or(net.dev), net.port});
    }
  }

  std::int64_t nvlink_rate(std::uint32_t gpu) const { return megabytes(nccl_nvlink(capabilities_.at(gpu))->usable); }

  void add_nvlinks(std::uint32_t vertex, const NcclTopology::Gpu& gpu) {
    const auto join = [&](std::uint32_t to, std::int64_t count) {
      connect_both(system_, vertex, to, NcclLinkKind::nvl, count * nvlink_rate(vertex), count);
    };
    if (gpu.to_nvswitch > 0) { join(nvs_vertex(system_), gpu.to_nvswitch); }
    if (gpu.to_cpu > 0) { join(cpu_of_.at(vertex), gpu.to_cpu); }
    if (gpu.c2c > 0) { connect_both(system_, vertex, cpu_of_.at(vertex), NcclLinkKind::c2c, gpu.c2c); }
  }

  void add_cable(const NcclTopology::Cable& cable) {
    const std::uint32_t a = vertices_.at(cable.a);
    const std::uint32_t b = vertices_.at(cable.b);
    connect(system_, a, {b, NcclLinkKind::nvl, cable.count * nvlink_rate(a), cable.count});
    connect(system_, b, {a, NcclLinkKind::nvl, cable.count * nvlink_rate(b), cable.count});
  }

  void join_cpus() {
    for (const NcclSystem::Cpu& a : system_.cpus) {
      const auto link = nccl_socket(a.identity);
      const std::int64_t rate = link ? megabytes(link->usable) : kNcclLocal;
      for (const NcclSystem::Cpu& b : system_.cpus) {
        if (a.vertex != b.vertex) { connect(system_, a.vertex, {b.vertex, NcclLinkKind::sys, rate, 0}); }
      }
    }
  }

  /// By the ranks of the file, or by device number where it has none.
  void rank_gpus() {
    std::vector<std::size_t> order(system_.gpus.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::size_t place) { return std::pair{gpus_[place].second->rank, gpus_[place].second->dev}; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      system_.gpus[order[rank]].rank = static_cast<std::uint32_t>(rank);
    }
  }

  NcclTopology topology_;
  NcclSystem system_;
  std::uint32_t cpu_ = 0;                                                 // the last one
  std::vector<std::pair<std::uint32_t, const NcclTopology::Gpu*>> gpus_;  // by vertex
  std::map<std::uint32_t, std::uint32_t> cpu_of_;                         // vertex of a GPU's CPU
  std::map<std::uint32_t, int> capabilities_;
  std::map<std::string, std::uint32_t> vertices_, bridges_, nics_;  // by bus id
  std::vector<std::pair<std::uint32_t, std::string>> peers_;
};

}  // namespace

NcclSystem nccl_system(const NcclTopology& topology) { return SystemMaker(topology).make(); }

NcclSystem read_nccl_topology(const FileReader& files, const std::string& name, Problems& problems) {
  const std::size_t before = problems.size();
  const std::string path = files.path(name);
  const std::string text = files.text(name);
  const NcclTopology topology = parse_nccl_topology(text, path, problems);
  if (problems.size() > before) { return {}; }
  NcclSystem system = nccl_system(topology);
  if (system.gpus.empty()) {
    problems.add(
        {"no-gpu", "there is no <gpu> within a <pci>", {path, 1, 1, ""}, "give what NCCL_TOPO_DUMP_FILE writes"});
  }
  return system;
}

}  // namespace athanor
