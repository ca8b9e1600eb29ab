#include "models/nccl/machine/topology_file.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/core.h>
#include <pugixml.hpp>

#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/xml_reader.hpp"

namespace athanor {

namespace {

constexpr int kDeepest = 64;
constexpr std::int64_t kMostLinks = 1024;
constexpr std::int64_t kMostMegabytes = 100'000'000;  // per second
constexpr double kMostLatency = 1e9;                  // us

bool has(const pugi::xml_node& node, const char* attribute) { return !node.attribute(attribute).empty(); }

bool is_true(const pugi::xml_node& node, const char* attribute, bool absent) {
  return has(node, attribute) ? node.attribute(attribute).as_int() != 0 : absent;
}

std::uint64_t hexadecimal(const char* text) { return std::strtoull(text, nullptr, 16); }

/// Reads one system.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file, Problems& problems) : xml_(text, file, problems) {}

  NcclTopology read() {
    if (const pugi::xml_node system = xml_.root("system", "give what NCCL_TOPO_DUMP_FILE writes")) { read(system); }
    return std::move(topology_);
  }

 private:
  struct Nvlink {
    std::string from, to;
    std::int64_t count = 0;
    pugi::xml_node xml;
  };

  void read(const pugi::xml_node& system) {
    check_hosts(system);
    check_gpus(system);
    for (const pugi::xml_node cpu : system.children("cpu")) {
      if (xml_.ok() && !too_deep(cpu, 0)) { add_cpu(cpu); }
    }
    if (!xml_.ok()) { return; }
    join_gpus();
    trim(topology_);
  }

  void check_hosts(const pugi::xml_node& system) {
    std::set<std::string> hosts;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      hosts.insert(cpu.attribute("host_hash").value());
      if (hosts.size() != 2) { continue; }
      xml_.problem(cpu, "several-hosts",
                   "its host_hash is another than that of the CPUs before: this file holds several hosts",
                   "give one host, and say elsewhere how many there are");
    }
  }

  /// With ranks in the file, only GPUs that have one were used.
  void check_gpus(const pugi::xml_node& system) {
    std::size_t gpus = 0;
    std::size_t ranked = 0;
    for (const pugi::xpath_node found : system.select_nodes(".//gpu")) {
      ++gpus;
      ranked += has(found.node(), "rank") ? 1 : 0;
    }
    ranked_ = ranked > 0;
    topology_.unranked = ranked_ ? gpus - ranked : 0;
    if (gpus > 0) { return; }
    xml_.problem(system, "no-gpu", "there is no <gpu>, so that nothing is known of NVLinks",
                 "a file that NCCL completes at run time is not enough; give what NCCL_TOPO_DUMP_FILE writes");
  }

  bool too_deep(const pugi::xml_node& node, int depth) {
    if (depth > kDeepest) {
      xml_.problem(node, "too-deep", fmt::format("more than {} elements are within each other", kDeepest));
      return true;
    }
    const auto children = node.children();
    return std::any_of(children.begin(), children.end(),
                       [&](const pugi::xml_node& child) { return too_deep(child, depth + 1); });
  }

  void add_cpu(const pugi::xml_node& xml) {
    NcclTopology::Cpu cpu;
    cpu.numa = xml_.number(xml, "numaid", -1);
    cpu.identity = {xml.attribute("arch").value(), xml.attribute("vendor").value(), xml_.count(xml, "familyid", 4095),
                    xml_.count(xml, "modelid", 4095)};
    cpu.line = xml_.line(xml);
    for (const pugi::xml_node pci : xml.children("pci")) { add_pci(pci, cpu.below); }
    for (const pugi::xml_node nic : xml.children("nic")) { add_nets(nic, cpu.nets); }
    topology_.cpus.push_back(std::move(cpu));
  }

  void add_pci(const pugi::xml_node& xml, std::vector<NcclTopology::Pci>& above) {
    NcclTopology::Pci pci;
    pci.line = xml_.line(xml);
    pci.bus = nccl_bus_id(xml.attribute("busid").value());
    const auto [known, is_new] = lines_of_buses_.emplace(pci.bus, pci.line);
    if (!is_new) {
      xml_.problem(xml, "duplicate-device",
                   fmt::format("busid {} is on line {} already", xml.attribute("busid").value(), known->second),
                   "take one of them out");
      return;
    }
    read_link(xml, pci);
    const pugi::xml_node gpu = xml.child("gpu");
    if (!gpu.empty() && (!ranked_ || has(gpu, "rank"))) {
      pci.gpu = read_gpu(gpu, pci.bus);
    } else if (const pugi::xml_node nic = xml.child("nic")) {
      add_nets(nic, pci.nets);
    } else {
      for (const pugi::xml_node child : xml.children("pci")) { add_pci(child, pci.below); }
      for (const pugi::xml_node peer : xml.children("pcilink")) {
        pci.peers.push_back(nccl_bus_id(peer.attribute("target").value()));
      }
    }
    above.push_back(std::move(pci));
  }

  void read_link(const pugi::xml_node& xml, NcclTopology::Pci& pci) {
    pci.speed = xml.attribute("link_speed").value();
    pci.width = xml_.number(xml, "link_width", 0);
    if (pci.width < 0 || pci.width > 64) {
      xml_.problem(xml, "unknown-rate", fmt::format("link_width {} is no number of lanes", pci.width),
                   "PCIe has 1 to 32");
    }
    for (const char* part : {"vendor", "device", "subsystem_vendor", "subsystem_device"}) {
      pci.model = (pci.model << 16U) + (hexadecimal(xml.attribute(part).value()) & 0xffffU);
    }
  }

  void add_nets(const pugi::xml_node& nic, std::vector<NcclTopology::Net>& nets) {
    for (const pugi::xml_node xml : nic.children("net")) {
      if (!has(xml, "dev") || !is_true(xml, "net", true)) { continue; }
      NcclTopology::Net net;
      net.name = xml.attribute("name").value();
      net.dev = xml_.count(xml, "dev");
      net.megabits = std::clamp<std::int64_t>(xml_.number(xml, "speed", 0), 0, kMostMegabytes);
      net.latency = xml_.real(xml, "latency", kMostLatency);
      net.gdr = is_true(xml, "gdr", true);
      if (has(xml, "coll")) { net.reduces = is_true(xml, "coll", false); }
      if (const pugi::xml_attribute guid = xml.attribute("guid")) { net.guid = hexadecimal(guid.value()); }
      net.port = xml_.count(xml, "port");
      net.line = xml_.line(xml);
      nets.push_back(std::move(net));
    }
  }

  NcclTopology::Gpu read_gpu(const pugi::xml_node& xml, const std::string& bus) {
    NcclTopology::Gpu gpu;
    if (!has(xml, "dev")) { xml_.problem(xml, "missing-number", "it has no device number dev"); }
    gpu.dev = xml_.count(xml, "dev");
    if (has(xml, "sm")) { gpu.compute_capability = xml_.count(xml, "sm", 10'000); }
    if (has(xml, "rank")) { gpu.rank = xml_.count(xml, "rank"); }
    gpu.gdr = is_true(xml, "gdr", true);
    gpu.line = xml_.line(xml);
    if (const pugi::xml_node c2c = xml.child("c2c")) { gpu.c2c = read_c2c(c2c); }
    if (const pugi::xml_node xgmi = xml.child("xgmi")) {
      xml_.problem(xgmi, "unknown-rate", "the rate of AMD's xGMI between GPUs is not known",
                   "only NVIDIA's GPUs are read");
    }
    for (const pugi::xml_node nvlink : xml.children("nvlink")) { add_nvlink(nvlink, bus, gpu); }
    return gpu;
  }

  std::int64_t read_c2c(const pugi::xml_node& c2c) {
    const std::int64_t each = std::clamp<std::int64_t>(xml_.number(c2c, "bw", 0), 0, kMostMegabytes);
    const std::int64_t megabytes = each * std::clamp<std::int64_t>(xml_.number(c2c, "count", 0), 0, kMostLinks);
    if (megabytes == 0 || megabytes > kMostMegabytes) {
      xml_.problem(c2c, "unknown-rate", "bw times count is no rate in MB/s");
    }
    return megabytes;
  }

  void add_nvlink(const pugi::xml_node& xml, const std::string& bus, NcclTopology::Gpu& gpu) {
    const std::int64_t links = xml_.number(xml, "count", 1);
    const std::uint32_t capability = gpu.compute_capability.value_or(0);
    const bool known = nccl_nvlink(static_cast<int>(capability)).has_value();
    if (!known || links < 1 || links > kMostLinks) {
      xml_.problem(xml, "unknown-rate",
                   known ? fmt::format("{} is no number of NVLinks", links)
                         : fmt::format("the rate of NVLink at sm=\"{}\" is not known", capability),
                   "sm is the compute capability times ten, from 60 on");
      return;
    }
    const std::string_view type = xml.attribute("tclass").value();
    if (type.starts_with("0x068001")) {
      gpu.to_cpu += links;
    } else if (!type.starts_with("0x03")) {
      gpu.to_nvswitch += links;
    } else {
      nvlinks_.push_back({bus, nccl_bus_id(xml.attribute("target").value()), links, xml});
    }
  }

  /// What each of two GPUs says of their cable.
  void join_gpus() {
    std::map<std::string, const NcclTopology::Gpu*> gpus;
    for (const NcclTopology::Cpu& cpu : topology_.cpus) { collect(cpu.below, gpus); }
    std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> counts;
    std::map<std::pair<std::string, std::string>, pugi::xml_node> first;
    for (const Nvlink& nvlink : nvlinks_) {
      if (!gpus.contains(nvlink.to)) {
        if (lines_of_buses_.contains(nvlink.to)) { continue; }  // a GPU that was not used
        xml_.problem(nvlink.xml, "unknown-device",
                     fmt::format("it leads to GPU {}, which is not there", nvlink.xml.attribute("target").value()),
                     "give the whole file");
        continue;
      }
      const auto ends = std::minmax(nvlink.from, nvlink.to);
      auto& both = counts[ends];
      (nvlink.from == ends.first ? both.first : both.second) += nvlink.count;
      first.emplace(ends, nvlink.xml);
    }
    for (const auto& [ends, both] : counts) {
      if (both.first != both.second) {
        xml_.problem(first.at(ends), "ends-differ",
                     fmt::format("gpu{} has {} NVLinks to gpu{}, which has {} back", gpus.at(ends.first)->dev,
                                 both.first, gpus.at(ends.second)->dev, both.second));
      }
      topology_.cables.push_back({ends.first, ends.second, both.first});
    }
  }

  static void collect(const std::vector<NcclTopology::Pci>& pcis,
                      std::map<std::string, const NcclTopology::Gpu*>& gpus) {
    for (const NcclTopology::Pci& pci : pcis) {
      if (pci.gpu) { gpus[pci.bus] = &*pci.gpu; }
      collect(pci.below, gpus);
    }
  }

  XmlReader xml_;
  NcclTopology topology_;
  std::vector<Nvlink> nvlinks_;
  std::map<std::string, int> lines_of_buses_;
  bool ranked_ = false;
};

/// Takes out what leads nowhere, counting the speeds that are left.
void trim_below(std::vector<NcclTopology::Pci>& pcis, std::size_t& unknown_speeds) {
  for (NcclTopology::Pci& pci : pcis) { trim_below(pci.below, unknown_speeds); }
  std::erase_if(pcis, [](const NcclTopology::Pci& pci) { return !pci.gpu && pci.nets.empty() && pci.below.empty(); });
  for (const NcclTopology::Pci& pci : pcis) { unknown_speeds += nccl_knows_pcie_speed(pci.speed) ? 0 : 1; }
}

}  // namespace

NcclTopology parse_nccl_topology(std::string_view text, const std::string& file, Problems& problems) {
  return Parser(text, file, problems).read();
}

void trim(NcclTopology& topology) {
  topology.unknown_speeds = 0;
  for (NcclTopology::Cpu& cpu : topology.cpus) { trim_below(cpu.below, topology.unknown_speeds); }
  std::erase_if(topology.cpus, [](const NcclTopology::Cpu& cpu) { return cpu.below.empty() && cpu.nets.empty(); });
}

std::string nccl_bus_id(std::string_view text) {
  std::string id(text);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return id.size() > 12 && id.starts_with("0000") ? id.substr(id.size() - 12) : id;
}

}  // namespace athanor
