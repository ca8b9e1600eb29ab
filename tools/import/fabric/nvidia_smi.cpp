#include "tools/import/fabric/nvidia_smi.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "sim/disjoint_groups.hpp"
#include "tools/import/fabric/matrix.hpp"

namespace athanor {

namespace {

/// Makes the machine of a matrix.
class SmiMachine {
 public:
  SmiMachine(const TopologyMatrix& matrix, const MatrixHardware& hardware, const Presets& presets, FabricDraft& draft)
      : matrix_(matrix),
        hardware_(hardware),
        presets_(presets),
        draft_(draft),
        switches_(matrix.devices.size()),
        trees_(matrix.devices.size()),
        bridges_(matrix.devices.size()),
        cpus_(matrix.devices.size()) {}

  DraftPort make() {
    find_groups();
    check_groups();
    find_hardware();
    if (!draft_.ok()) { return {}; }
    for (const auto& device : matrix_.devices) {
      draft_.add(device.name.empty() ? device.label : device.name, device.gpu ? VertexKind::gpu : VertexKind::nic,
                 device.line);
    }
    add_pcie();
    add_nvlinks();
    return {hardware_.nic, {}, {}};
  }

 private:
  template <class See>
  void each_pair(See see) const {
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) { see(i, j, matrix_.devices[i].row[j].nearness); }
    }
  }

  /// GPUs on NVLink do not say how near they are on PCIe: those with the same affinity are taken to share a CPU.
  void find_groups() {
    each_pair([&](std::size_t i, std::size_t j, Nearness nearness) {
      const bool on_nvlink = nearness == Nearness::nvlink;
      const std::string& affinity = matrix_.devices[i].affinity;
      const bool alike = on_nvlink && !affinity.empty() && affinity == matrix_.devices[j].affinity;
      if (nearness <= Nearness::pix) { switches_.join(i, j); }
      if (nearness <= Nearness::pxb) { trees_.join(i, j); }
      if (nearness <= Nearness::phb) { bridges_.join(i, j); }
      if (nearness <= Nearness::node || alike) { cpus_.join(i, j); }
    });
  }

  Nearness nearness(std::size_t i, std::size_t j) const {
    if (switches_.of(i) == switches_.of(j)) { return Nearness::pix; }
    if (trees_.of(i) == trees_.of(j)) { return Nearness::pxb; }
    if (bridges_.of(i) == bridges_.of(j)) { return Nearness::phb; }
    return cpus_.of(i) == cpus_.of(j) ? Nearness::node : Nearness::sys;
  }

  /// What is as near as PIX, and so on, must be so all round.
  void check_groups() {
    each_pair([&](std::size_t i, std::size_t j, Nearness said) {
      if (said == Nearness::nvlink || said == nearness(i, j)) { return; }
      draft_.problem(matrix_.devices[i].line, "contradiction",
                     fmt::format("{} and {} are joined by {}, but by what joins others they would be by {}",
                                 matrix_.devices[i].label, matrix_.devices[j].label, name(said), name(nearness(i, j))),
                     "no machine is like that; give the matrix as it was printed");
    });
  }

  std::size_t cpu_count() const {
    std::set<std::uint32_t> cpus;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) { cpus.insert(cpus_.of(i)); }
    return cpus.size();
  }

  template <class Preset>
  const Preset* preset(const std::map<std::string, Preset>& presets, const std::string& name, const char* option,
                       const char* what) {
    if (name.empty()) {
      draft_.problem(matrix_.line, "missing-rate", fmt::format("the matrix has no rates, and no {} is named", what),
                     fmt::format("add {}; `athanor list presets` names them", option));
      return nullptr;
    }
    const auto found = presets.find(name);
    if (found != presets.end()) { return &found->second; }
    std::vector<std::string> names;
    for (const auto& [known, each] : presets) { names.push_back(known); }
    const std::string close = nearest(name, names);
    draft_.problem(matrix_.line, "unknown-preset", fmt::format("there is no {} '{}'", what, name),
                   close.empty() ? "`athanor list presets` names them" : fmt::format("did you mean '{}'?", close));
    return nullptr;
  }

  void find_hardware() {
    const auto& devices = matrix_.devices;
    gpu_ = preset(presets_.gpus, hardware_.gpu, "--gpu NAME", "GPU");
    if (gpu_ != nullptr) {
      pcie_ = preset(presets_.links, gpu_->pcie ? gpu_->pcie->preset : "", "--gpu NAME", "PCIe link");
    }
    if (gpu_ != nullptr) { draft_.set_identity(identity_of(*gpu_)); }
    if (gpu_ != nullptr && gpu_->nvlink) {
      nvlink_ = preset(presets_.links, gpu_->nvlink->preset, "--gpu NAME", "NVLink");
    }
    if (std::any_of(devices.begin(), devices.end(), [](const auto& device) { return !device.gpu; })) {
      preset(presets_.nics, hardware_.nic, "--nic NAME", "NIC");
    }
    if (cpu_count() > 1) {
      socket_ = preset(presets_.links, hardware_.socket_link, "--socket-link NAME", "link between CPUs");
    }
  }

  static Link link(const LinkPreset& preset, std::int64_t count = 1) {
    return {preset.spec.rate * count, preset.spec.usable * count, preset.spec.latency, preset.kind};
  }

  /// The device that stands for a group, made when it is first asked for.
  std::uint32_t stand_in(std::map<std::uint32_t, std::uint32_t>& made, std::uint32_t group, VertexKind kind,
                         const char* what, bool& is_new) {
    const auto [found, inserted] = made.emplace(group, 0);
    is_new = inserted;
    if (inserted) { found->second = draft_.add(fmt::format("{}{}", what, made.size() - 1), kind, matrix_.line); }
    return found->second;
  }

  std::uint32_t members(const DisjointGroups& groups, std::uint32_t group) const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) { count += groups.of(i) == group ? 1 : 0; }
    return count;
  }

  /// From each device up: to the switch that it shares, to the one above, to the CPU.
  void add_pcie() {
    std::map<std::uint32_t, std::uint32_t> switches;
    std::map<std::uint32_t, std::uint32_t> trees;
    std::map<std::uint32_t, std::uint32_t> cpus;
    for (std::uint32_t i = 0; i < matrix_.devices.size(); ++i) {
      std::uint32_t at = i;
      bool is_new = true;
      const std::uint32_t in_switch = members(switches_, switches_.of(i));
      if (in_switch > 1) {
        at = join_up(at, stand_in(switches, switches_.of(i), VertexKind::pcie_switch, "plx", is_new));
      }
      if (is_new && members(trees_, trees_.of(i)) > in_switch) {
        at = join_up(at, stand_in(trees, trees_.of(i), VertexKind::pcie_switch, "upper_plx", is_new));
      }
      bool first_of_cpu = false;
      if (is_new) { join_up(at, stand_in(cpus, cpus_.of(i), VertexKind::cpu, "cpu", first_of_cpu)); }
    }
    for (auto a = cpus.begin(); a != cpus.end(); ++a) {
      for (auto b = std::next(a); b != cpus.end(); ++b) { draft_.connect(a->second, b->second, link(*socket_)); }
    }
  }

  std::uint32_t join_up(std::uint32_t from, std::uint32_t to) {
    draft_.connect(from, to, link(*pcie_));
    return to;
  }

  void add_nvlinks() {
    std::set<std::uint32_t> counts;
    std::size_t pairs = 0;
    std::size_t gpus = 0;
    std::uint32_t most = 0;
    for (const auto& device : matrix_.devices) {
      gpus += device.gpu ? 1 : 0;
      std::uint32_t row = 0;
      for (const TopologyMatrix::Cell& cell : device.row) {
        if (cell.nvlinks == 0) { continue; }
        counts.insert(cell.nvlinks);
        row += cell.nvlinks;
        ++pairs;
      }
      most = std::max(most, row);
    }
    if (counts.empty()) { return; }
    if (nvlink_ == nullptr) {
      draft_.problem(matrix_.line, "missing-rate",
                     fmt::format("the matrix has NVLinks, and {} has none", hardware_.gpu),
                     "name a GPU that has them with --gpu");
    } else if (most <= gpu_->nvlinks) {
      add_cables();
    } else if (counts.size() == 1 && pairs == gpus * (gpus - 1)) {
      add_switch(*counts.begin());
    } else {
      draft_.problem(matrix_.line, "contradiction",
                     fmt::format("a GPU has {} NVLinks in its row, and {} has {}", most, hardware_.gpu, gpu_->nvlinks),
                     "one number in the whole matrix would be an NVSwitch; is it another GPU?");
    }
  }

  void add_cables() {
    each_pair([&](std::size_t i, std::size_t j, Nearness) {
      const std::uint32_t count = matrix_.devices[i].row[j].nvlinks;
      if (count == 0) { return; }
      draft_.connect(static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i), link(*nvlink_, count));
    });
  }

  void add_switch(std::uint32_t links) {
    const std::uint32_t nvswitch = draft_.add("nvswitch0", VertexKind::nvswitch, matrix_.line);
    for (std::uint32_t i = 0; i < matrix_.devices.size(); ++i) {
      if (matrix_.devices[i].gpu) { draft_.connect(i, nvswitch, link(*nvlink_, links)); }
    }
    draft_.note(fmt::format("{} NVLinks of each GPU reach every other: they lead to an NVSwitch", links));
  }

  const TopologyMatrix& matrix_;
  const MatrixHardware& hardware_;
  const Presets& presets_;
  FabricDraft& draft_;
  DisjointGroups switches_;
  DisjointGroups trees_;
  DisjointGroups bridges_;
  DisjointGroups cpus_;
  const GpuPreset* gpu_ = nullptr;
  const LinkPreset* pcie_ = nullptr;
  const LinkPreset* nvlink_ = nullptr;
  const LinkPreset* socket_ = nullptr;
};

}  // namespace

DraftPort import_nvidia_smi(std::string_view text, const MatrixHardware& hardware, const Presets& presets,
                            FabricDraft& draft) {
  const TopologyMatrix matrix = read_matrix(text, draft);
  if (!draft.ok()) { return {}; }
  return SmiMachine(matrix, hardware, presets, draft).make();
}

}  // namespace athanor
