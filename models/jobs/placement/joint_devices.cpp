#include <algorithm>
#include <optional>
#include <vector>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

/// Where the NICs of a task have to be, seen from its GPUs.
enum class DeviceScope : std::uint8_t { node, socket, pcie };

/// Groups of a node's devices that are looked at: those with the most free GPUs.
constexpr std::size_t kMostGroups = 16;

struct Devices {
  GpuSet gpus;
  NicSet nics;
};

/// What is free on each switch, or on each socket.
std::vector<Devices> free_groups(NodeId node, DeviceScope scope, const Inventory& inventory) {
  const NodeList& list = inventory.nodes();
  const GpuSet gpus = inventory.free_gpus(node);
  const NicSet nics = inventory.free_nics(node);
  if (scope == DeviceScope::node || list.devices.empty()) { return {{gpus, nics}}; }
  const NodeDevices& devices = list.devices[list.nodes[node].devices];
  const bool by_switch = scope == DeviceScope::pcie;
  std::vector<Devices> groups;
  const auto group = [&](std::uint8_t number) -> Devices& {
    if (number >= groups.size()) { groups.resize(number + std::size_t{1}); }
    return groups[number];
  };
  for (std::uint32_t gpu = 0; gpu < devices.switch_of_gpu.size(); ++gpu) {
    Devices& own = group((by_switch ? devices.switch_of_gpu : devices.socket_of_gpu)[gpu]);
    if (gpus.has(gpu)) { own.gpus.add(gpu); }
  }
  for (std::uint32_t nic = 0; nic < devices.switch_of_nic.size(); ++nic) {
    Devices& own = group((by_switch ? devices.switch_of_nic : devices.socket_of_nic)[nic]);
    if (nics.has(nic)) { own.nics.add(nic); }
  }
  std::erase_if(groups, [](const Devices& each) { return each.gpus.empty() || each.nics.empty(); });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Devices& a, const Devices& b) { return a.gpus.count() > b.gpus.count(); });
  if (groups.size() > kMostGroups) { groups.resize(kMostGroups); }
  return groups;
}

/// The tightest so many of some groups that have enough GPUs and NICs together.
class TightestGroups {
 public:
  TightestGroups(const std::vector<Devices>& groups, const Demand& demand) : groups_(groups), demand_(demand) {}

  /// Their indices; empty: there are none.
  std::vector<std::size_t> find(std::uint32_t count) {
    best_.clear();
    least_ = UINT32_MAX;
    look(0, count, 0, 0);
    return best_;
  }

 private:
  void look(std::size_t from, std::uint32_t left, std::uint32_t gpus, std::uint32_t nics) {
    if (left == 0) {
      if (gpus < demand_.gpus || nics < demand_.nics || gpus >= least_) { return; }
      least_ = gpus;
      best_ = chosen_;
      return;
    }
    for (std::size_t next = from; next + left <= groups_.size(); ++next) {
      chosen_.push_back(next);
      look(next + 1, left - 1, gpus + groups_[next].gpus.count(), nics + groups_[next].nics.count());
      chosen_.pop_back();
    }
  }

  const std::vector<Devices>& groups_;
  const Demand& demand_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  std::uint32_t least_ = UINT32_MAX;
};

/// So many of all of them, at least one of each, and else of the earlier ones.
template <class Member>
GpuSet some_of(const std::vector<Devices>& groups, std::uint32_t count, Member member) {
  GpuSet some;
  for (const Devices& each : groups) { some.add((each.*member).least()); }
  for (const Devices& each : groups) {
    some = some | (each.*member - some).lowest(count - std::min(count, some.count()));
  }
  return some;
}

/// On as few groups as possible, each of which has both; none: there are no such.
std::optional<Devices> within(DeviceScope scope, NodeId node, const Demand& demand, const Inventory& inventory) {
  const std::vector<Devices> groups = free_groups(node, scope, inventory);
  const auto most = std::min<std::size_t>({groups.size(), demand.gpus, demand.nics});
  TightestGroups tightest(groups, demand);
  for (std::uint32_t count = 1; count <= most; ++count) {
    std::vector<Devices> chosen;
    for (const std::size_t each : tightest.find(count)) { chosen.push_back(groups[each]); }
    if (chosen.empty()) { continue; }
    return Devices{some_of(chosen, demand.gpus, &Devices::gpus), some_of(chosen, demand.nics, &Devices::nics)};
  }
  return {};
}

class JointDevicesPolicy final : public ScoredPlacement {
 public:
  JointDevicesPolicy(const NodeList& nodes, const ScoredSettings& settings, DeviceScope required, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), required_(required) {}

  bool minds_gpus() const override { return true; }

 private:
  static bool is_joint(const Demand& demand) { return demand.gpus > 0 && demand.nics > 0; }

  bool suits(NodeId node, const Demand& demand, const Inventory& inventory) override {
    return !is_joint(demand) || within(required_, node, demand, inventory).has_value();
  }

  /// Where they are nearest to each other, then the fewest free GPUs.
  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    for (ScoredNode& each : nodes) {
      const auto near = [&](DeviceScope scope) { return within(scope, each.node, demand, inventory).has_value(); };
      const int distance = !is_joint(demand) || near(DeviceScope::pcie) ? 0 : near(DeviceScope::socket) ? 1 : 2;
      const auto free = static_cast<int>(inventory.free_gpus(each.node).count());
      each.score = -distance * static_cast<int>(GpuSet::kMost + 1) - free;
    }
  }

  GpuSet whole_gpus(NodeId node, const Demand& demand, const Inventory& inventory) override {
    const auto best = best_of(node, demand, inventory);
    return best ? best->gpus : ScoredPlacement::whole_gpus(node, demand, inventory);
  }
  NicSet nics(NodeId node, const Demand& demand, const Inventory& inventory) override {
    const auto best = best_of(node, demand, inventory);
    return best ? best->nics : ScoredPlacement::nics(node, demand, inventory);
  }

  static std::optional<Devices> best_of(NodeId node, const Demand& demand, const Inventory& inventory) {
    if (!is_joint(demand)) { return {}; }
    for (const DeviceScope scope : {DeviceScope::pcie, DeviceScope::socket}) {
      if (auto found = within(scope, node, demand, inventory)) { return found; }
    }
    return {};
  }

  DeviceScope required_;
};

}  // namespace

struct JointDevices final : PlacementKind {
  static constexpr std::string_view kName = "joint_devices";
  static constexpr std::string_view kMeaning =
      "each task with NICs that hang on the PCIe switches of its GPUs, on few switches (Koordinator)";
  ScoredSettings settings;
  DeviceScope required = DeviceScope::node;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings);
    fields.optional("required", required, "A task waits where its NICs would be farther from its GPUs than that",
                    {{"node", DeviceScope::node}, {"socket", DeviceScope::socket}, {"pcie", DeviceScope::pcie}});
  }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<JointDevicesPolicy>(nodes, settings, required, seed);
  }
};

template PlacementEntry placement_entry_of<JointDevices>();

}  // namespace athanor
