#include "tools/import/fabric/nccl_xml.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/nccl/machine/link_rates.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/lines.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

namespace {

constexpr int kDeepest = 64;
constexpr std::int64_t kMostLinks = 1024;
constexpr std::int64_t kMostMegabytes = 100'000'000;  // per second
constexpr Time kNicForwarding{300'000};

/// "00000000:C4:00.0" and "0000:c4:00.0" are one.
std::string bus_id(std::string_view text) {
  std::string id(text);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return id.size() > 12 && id.starts_with("0000") ? id.substr(id.size() - 12) : id;
}

/// Reads one system.
class Topology {
 public:
  Topology(std::string_view text, const std::string& file, FabricDraft& draft)
      : file_(file), lines_(text), draft_(draft) {
    const pugi::xml_parse_result result = xml_.load_buffer(text.data(), text.size());
    if (result) { return; }
    throw ScenarioError(Problem{"not-xml", fmt::format("this is no XML: {}", result.description()),
                                lines_.place(file_, result.offset), "give the whole file"});
  }

  DraftPort read() {
    const pugi::xml_node system = xml_.child("system");
    if (!system) {
      draft_.problem(1, "not-nccl", "there is no <system> element", "give what NCCL_TOPO_DUMP_FILE writes");
      return {};
    }
    check_hosts(system);
    find_gpus(system);
    const DraftPort port = find_nics(system);
    if (!draft_.ok()) { return {}; }
    for (const pugi::xml_node cpu : system.children("cpu")) { add_cpu(cpu); }
    join_cpus();
    for (const Gpu& gpu : gpus_) { add_nvlinks(gpu); }
    join_gpus();
    note_speeds();
    if (draft_.ok()) { draft_.check_connected("two CPUs of one host are joined by their <cpu> elements"); }
    return port;
  }

 private:
  struct Gpu {
    pugi::xml_node xml;
    std::int64_t number = 0;
    std::uint32_t device = 0;
    std::uint32_t cpu = 0;  ///< device
    int capability = 0;
  };
  struct Nic {
    pugi::xml_node xml;
    std::int64_t number = 0;
    std::int64_t megabits = 0;
    std::uint32_t device = 0;
  };
  struct Cpu {
    pugi::xml_node xml;
    std::uint32_t device = 0;
  };

  int line(const pugi::xml_node& node) const {
    return lines_.place(file_, std::max<std::ptrdiff_t>(0, node.offset_debug() - 1)).line;
  }
  void problem(const pugi::xml_node& node, std::string code, std::string message, std::string hint = "") {
    draft_.problem(line(node), std::move(code), fmt::format("<{}>: {}", node.name(), message), std::move(hint));
  }

  /// A whole number; `absent` where the attribute is not there, a problem where it is no number.
  std::int64_t number(const pugi::xml_node& node, const char* attribute, std::int64_t absent) {
    const pugi::xml_attribute found = node.attribute(attribute);
    if (!found) { return absent; }
    const std::string_view text = found.value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) { return value; }
    problem(node, "wrong-number", fmt::format("{} '{}' is no whole number", attribute, text));
    return absent;
  }

  void check_hosts(const pugi::xml_node& system) {
    std::set<std::string> hosts;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      hosts.insert(cpu.attribute("host_hash").value());
      if (hosts.size() != 2) { continue; }
      problem(cpu, "several-hosts",
              "its host_hash is another than that of the CPUs before: this file holds several hosts",
              "import one host, and say with --nodes how many there are");
    }
  }

  /// With ranks in the file, only GPUs that have one were used.
  void find_gpus(const pugi::xml_node& system) {
    bool ranked = false;
    for (const pugi::xpath_node found : system.select_nodes(".//gpu")) {
      ranked = ranked || found.node().attribute("rank");
      gpus_.push_back({found.node(), 0, 0, 0, 0});
    }
    const auto unused = [&](const Gpu& gpu) { return ranked && !gpu.xml.attribute("rank"); };
    const auto left = std::remove_if(gpus_.begin(), gpus_.end(), unused);
    if (left != gpus_.end()) { draft_.note(fmt::format("{} GPUs without a rank are left out", gpus_.end() - left)); }
    gpus_.erase(left, gpus_.end());
    if (gpus_.empty()) {
      problem(system, "no-gpu", "there is no <gpu>, so that nothing is known of NVLinks",
              "a file that NCCL completes at run time is not enough; give what NCCL_TOPO_DUMP_FILE writes");
    }
    for (Gpu& gpu : gpus_) {
      gpu.number = number(gpu.xml, "dev", -1);
      if (gpu.number < 0) { problem(gpu.xml, "missing-number", "it has no device number dev"); }
      gpu.capability = static_cast<int>(std::clamp<std::int64_t>(number(gpu.xml, "sm", 0), 0, 10'000));
    }
    std::stable_sort(gpus_.begin(), gpus_.end(), [](const Gpu& a, const Gpu& b) { return a.number < b.number; });
    for (Gpu& gpu : gpus_) {
      gpu.device = draft_.add(fmt::format("gpu{}", gpu.number), VertexKind::gpu, line(gpu.xml));
      devices_[gpu.xml.internal_object()] = gpu.device;
      gpu_of_bus_[bus_id(gpu.xml.parent().attribute("busid").value())] = &gpu;
    }
  }

  DraftPort find_nics(const pugi::xml_node& system) {
    std::int64_t fastest = 0;
    for (const pugi::xpath_node found : system.select_nodes(".//nic/net")) {
      if (!found.node().attribute("dev")) { continue; }
      Nic nic{found.node(), number(found.node(), "dev", -1), number(found.node(), "speed", 0), 0};
      if (nic.megabits <= 0) {
        draft_.note(
            fmt::format("{} has no speed and is taken for 10 Gb/s, as NCCL does", nic.xml.attribute("name").value()));
        nic.megabits = 10'000;
      }
      fastest = std::max(fastest, nic.megabits);
      nics_.push_back(nic);
    }
    const auto slower = [&](const Nic& nic) { return nic.megabits < fastest; };
    for (const Nic& nic : nics_) {
      if (!slower(nic)) { continue; }
      draft_.note(fmt::format("{} of {} Mb/s is left out: others have {}", nic.xml.attribute("name").value(),
                              nic.megabits, fastest));
    }
    nics_.erase(std::remove_if(nics_.begin(), nics_.end(), slower), nics_.end());
    std::stable_sort(nics_.begin(), nics_.end(), [](const Nic& a, const Nic& b) { return a.number < b.number; });
    for (Nic& nic : nics_) {
      const std::string name = nic.xml.attribute("name").value();
      nic.device = draft_.add(name.empty() ? fmt::format("nic{}", nic.number) : name, VertexKind::nic, line(nic.xml));
      devices_[nic.xml.internal_object()] = nic.device;
    }
    return {"", Bandwidth{fastest * 125'000}, kNicForwarding};
  }

  bool is_kept(const pugi::xml_node& node) const { return devices_.count(node.internal_object()) > 0; }

  bool leads_to_device(const pugi::xml_node& node) const {
    for (const pugi::xml_node child : node.children()) {
      if (is_kept(child) || leads_to_device(child)) { return true; }
    }
    return false;
  }

  void add_cpu(const pugi::xml_node& xml) {
    if (too_deep(xml, 0) || !leads_to_device(xml)) { return; }
    const std::int64_t numa = number(xml, "numaid", -1);
    const std::string name = fmt::format("cpu{}", numa < 0 ? static_cast<std::int64_t>(cpus_.size()) : numa);
    cpus_.push_back({xml, draft_.add(name, VertexKind::cpu, line(xml))});
    for (const pugi::xml_node pci : xml.children("pci")) { add_pci(pci, cpus_.back().device); }
    for (const pugi::xml_node nic : xml.children("nic")) { add_ports(nic, cpus_.back().device, nccl_local()); }
  }

  bool too_deep(const pugi::xml_node& node, int depth) {
    if (depth > kDeepest) {
      problem(node, "too-deep", fmt::format("more than {} elements are within each other", kDeepest));
      return true;
    }
    const auto children = node.children();
    return std::any_of(children.begin(), children.end(),
                       [&](const pugi::xml_node& child) { return too_deep(child, depth + 1); });
  }

  Link pci_link(const pugi::xml_node& pci) {
    const std::string_view speed = pci.attribute("link_speed").value();
    if (!nccl_knows_pcie_speed(speed)) { ++unknown_speeds_; }
    const std::int64_t width = number(pci, "link_width", 0);
    if (width < 0 || width > 64) {
      problem(pci, "unknown-rate", fmt::format("link_width {} is no number of lanes", width), "PCIe has 1 to 32");
      return nccl_local();
    }
    return nccl_pcie(speed, width);
  }

  void add_pci(const pugi::xml_node& pci, std::uint32_t above) {
    const std::string bus = pci.attribute("busid").value();
    const auto [known, is_new] = lines_of_buses_.emplace(bus_id(bus), line(pci));
    if (!is_new) {
      problem(pci, "duplicate-device", fmt::format("busid {} is on line {} already", bus, known->second),
              "take one of them out");
      return;
    }
    if (!leads_to_device(pci)) { return; }
    const Link link = pci_link(pci);
    if (const pugi::xml_node gpu = pci.child("gpu"); gpu && is_kept(gpu)) {
      draft_.connect(devices_[gpu.internal_object()], above, link);
      set_cpu(gpu);
    } else if (const pugi::xml_node nic = pci.child("nic")) {
      add_ports(nic, above, link);
    } else {
      const std::uint32_t bridge = draft_.add("pcie " + bus_id(bus), VertexKind::pcie_switch, line(pci));
      draft_.connect(bridge, above, link);
      for (const pugi::xml_node child : pci.children("pci")) { add_pci(child, bridge); }
      for (const pugi::xml_node peer : pci.children("pcilink")) { add_peer(peer, bridge); }
    }
  }

  void set_cpu(const pugi::xml_node& gpu) {
    for (Gpu& each : gpus_) {
      if (each.xml == gpu) { each.cpu = cpus_.back().device; }
    }
  }

  /// Several ports of one NIC share its PCIe link.
  void add_ports(const pugi::xml_node& nic, std::uint32_t above, const Link& link) {
    std::vector<std::uint32_t> ports;
    for (const pugi::xml_node net : nic.children("net")) {
      if (is_kept(net)) { ports.push_back(devices_[net.internal_object()]); }
    }
    if (ports.size() == 1) { draft_.connect(ports[0], above, link); }
    if (ports.size() < 2) { return; }
    const std::string bus = nic.parent().attribute("busid").value();
    const std::uint32_t shared = draft_.add("ports of " + bus, VertexKind::pcie_switch, line(nic));
    draft_.connect(shared, above, link);
    for (const std::uint32_t port : ports) { draft_.connect(port, shared, nccl_local()); }
  }

  /// Two switches that pass traffic to each other directly, listed at both.
  void add_peer(const pugi::xml_node& peer, std::uint32_t bridge) {
    const auto other = draft_.find("pcie " + bus_id(peer.attribute("target").value()));
    if (other && *other != bridge) { draft_.connect(bridge, *other, nccl_local()); }
  }

  void join_cpus() {
    for (std::size_t b = 1; b < cpus_.size(); ++b) {
      const pugi::xml_node& xml = cpus_[b].xml;
      const CpuIdentity cpu{xml.attribute("arch").value(), xml.attribute("vendor").value(),
                            static_cast<std::uint32_t>(std::clamp<std::int64_t>(number(xml, "familyid", 0), 0, 4095)),
                            static_cast<std::uint32_t>(std::clamp<std::int64_t>(number(xml, "modelid", 0), 0, 4095))};
      const std::optional<Link> link = nccl_socket(cpu);
      if (!link) {
        problem(xml, "unknown-rate",
                fmt::format("NCCL has no rate between CPUs of arch '{}', vendor '{}', family {}", cpu.arch, cpu.vendor,
                            cpu.family),
                "it knows Intel's family 6, AMD, ARM and POWER");
        return;
      }
      for (std::size_t a = 0; a < b; ++a) { draft_.connect(cpus_[a].device, cpus_[b].device, *link); }
    }
  }

  void add_nvlinks(const Gpu& gpu) {
    if (const pugi::xml_node c2c = gpu.xml.child("c2c")) {
      const std::int64_t each = std::clamp<std::int64_t>(number(c2c, "bw", 0), 0, kMostMegabytes);
      const std::int64_t megabytes = each * std::clamp<std::int64_t>(number(c2c, "count", 0), 0, kMostLinks);
      if (megabytes == 0 || megabytes > kMostMegabytes) {
        problem(c2c, "unknown-rate", "bw times count is no rate in MB/s");
        return;
      }
      draft_.connect(gpu.device, gpu.cpu, nccl_c2c(megabytes));
    }
    if (const pugi::xml_node xgmi = gpu.xml.child("xgmi")) {
      problem(xgmi, "unknown-rate", "the rate of AMD's xGMI between GPUs is not known", "only NVIDIA's GPUs are read");
    }
    for (const pugi::xml_node nvlink : gpu.xml.children("nvlink")) { add_nvlink(gpu, nvlink); }
  }

  void add_nvlink(const Gpu& gpu, const pugi::xml_node& nvlink) {
    const std::int64_t count = number(nvlink, "count", 1);
    const std::optional<Link> one = nccl_nvlink(gpu.capability);
    if (!one || count < 1 || count > kMostLinks) {
      problem(nvlink, "unknown-rate",
              one ? fmt::format("{} is no number of NVLinks", count)
                  : fmt::format("the rate of NVLink at sm=\"{}\" is not known", gpu.capability),
              "sm is the compute capability times ten, from 60 on");
      return;
    }
    const std::string_view type = nvlink.attribute("tclass").value();
    if (type.starts_with("0x068001")) {
      draft_.connect(gpu.device, gpu.cpu, times(*one, count));
    } else if (!type.starts_with("0x03")) {
      switched_[gpu.device] += count;
    } else if (const auto target = gpu_of_bus_.find(bus_id(nvlink.attribute("target").value()));
               target != gpu_of_bus_.end()) {
      auto& counts = cables_[std::minmax(gpu.device, target->second->device)];
      (gpu.device < target->second->device ? counts.first : counts.second) += count;
      counts_lines_.emplace(std::minmax(gpu.device, target->second->device), nvlink);
    } else if (lines_of_buses_.count(bus_id(nvlink.attribute("target").value())) == 0) {
      problem(nvlink, "unknown-device",
              fmt::format("it leads to GPU {}, which is not there", nvlink.attribute("target").value()),
              "give the whole file");
    }
  }

  static Link times(Link link, std::int64_t count) {
    link.rate = link.rate * count;
    link.usable = link.usable * count;
    return link;
  }

  void join_gpus() {
    for (const auto& [ends, counts] : cables_) {
      if (counts.first != counts.second) {
        problem(counts_lines_.at(ends), "ends-differ",
                fmt::format("{} has {} NVLinks to {}, which has {} back", draft_.devices()[ends.first].name,
                            counts.first, draft_.devices()[ends.second].name, counts.second));
        continue;
      }
      draft_.connect(ends.first, ends.second, times(nvlink_between(ends.first, ends.second), counts.first));
    }
    if (switched_.empty()) { return; }
    const std::uint32_t nvswitch = draft_.add("nvswitch0", VertexKind::nvswitch, 0);
    for (const auto& [gpu, count] : switched_) {
      draft_.connect(gpu, nvswitch, times(nvlink_between(gpu, gpu), count));
    }
  }

  /// GPUs are the first devices, so that their numbers are theirs here, too.
  Link nvlink_between(std::uint32_t a, std::uint32_t b) const {
    return *nccl_nvlink(std::min(gpus_[a].capability, gpus_[b].capability));
  }

  void note_speeds() {
    if (unknown_speeds_ == 0) { return; }
    draft_.note(fmt::format("{} PCIe links have no speed that is known and are taken for PCIe 3, as NCCL does",
                            unknown_speeds_));
  }

  using Ends = std::pair<std::uint32_t, std::uint32_t>;

  const std::string& file_;
  Lines lines_;
  FabricDraft& draft_;
  pugi::xml_document xml_;
  std::vector<Gpu> gpus_;
  std::vector<Nic> nics_;
  std::vector<Cpu> cpus_;
  std::map<const void*, std::uint32_t> devices_;  // of <gpu> and <net> elements; never iterated
  std::map<std::string, const Gpu*> gpu_of_bus_;
  std::map<std::string, int> lines_of_buses_;
  std::map<std::uint32_t, std::int64_t> switched_;  // NVLinks of a GPU to NVSwitches
  std::map<Ends, std::pair<std::int64_t, std::int64_t>> cables_;
  std::map<Ends, pugi::xml_node> counts_lines_;
  std::size_t unknown_speeds_ = 0;
};

}  // namespace

DraftPort import_nccl_xml(std::string_view text, const std::string& file, FabricDraft& draft) {
  return Topology(text, file, draft).read();
}

}  // namespace athanor
