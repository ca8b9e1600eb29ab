#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/placement/entry.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

enum class Mode : std::uint8_t { required, preferred };

/// Keys of the kind.
struct TopologySettings {
  Mode mode = Mode::preferred;
  std::uint32_t highest_tier = 1;  ///< from 1 on, the nearest
  std::uint32_t segment = 0;       ///< tasks; 0: a job is one
};

/// Nodes below one switch of a tier, and how many tasks of a group they take.
struct Domain {
  std::vector<std::uint32_t> parts;  ///< domains of the tier below, or nodes
  std::uint32_t room = 0;
  std::uint32_t free = 0;  ///< wholly free GPUs
};

/// Places each job in the domain of the lowest tier that takes it, of several the one with the fewest free GPUs; within
/// it on as few parts as take it, and so on down to nodes. Above the last tier is a domain of all nodes.
class TopologyPolicy final : public PlacementPolicy {
 public:
  TopologyPolicy(const NodeList& nodes, const TopologySettings& settings)
      : nodes_(nodes), settings_(settings), node_rooms_(nodes.count()), tiers_(nodes.tiers.size() + 1) {
    const std::size_t top = nodes.tiers.size();
    for (std::size_t tier = 0; tier < top; ++tier) { tiers_[tier].resize(nodes.tiers[tier].count); }
    tiers_[top].resize(1);
    for (const NodeId node : nodes.nodes.ids()) { tiers_[0][domain_of(0, node)].parts.push_back(node.value); }
    for (std::size_t tier = 1; tier <= top; ++tier) {
      for (const NodeId node : nodes.nodes.ids()) {
        std::vector<std::uint32_t>& parts = tiers_[tier][domain_of(tier, node)].parts;
        const std::uint32_t part = domain_of(tier - 1, node);
        if (std::find(parts.begin(), parts.end(), part) == parts.end()) { parts.push_back(part); }
      }
    }
  }

  std::optional<Allocation> place(const Shape& shape, Inventory& inventory) override {
    const bool cut = settings_.segment > 0;
    const std::size_t from = cut ? settings_.highest_tier - 1 : 0;
    const bool limited = settings_.mode == Mode::required && !cut;
    const std::size_t last = limited ? settings_.highest_tier - 1 : tiers_.size() - 1;
    const std::uint32_t segment = cut ? settings_.segment : 1;
    const std::uint32_t whole = shape[0].tasks - shape[0].tasks % segment;
    if (measure(tiers_.size() - 1, 0, shape[0].each, segment, inventory) < whole) { return {}; }
    for (std::size_t tier = from; tier <= last; ++tier) {
      for (const std::uint32_t domain : with_room(tier, whole)) {
        if (auto found = place_in(tier, domain, shape, inventory)) { return found; }
      }
    }
    return {};
  }

 private:
  std::uint32_t domain_of(std::size_t tier, NodeId node) const {
    return tier < nodes_.tiers.size() ? nodes_.tiers[tier].domains[node] : 0;
  }

  /// Domains that were measured to take so many tasks, those with the fewest free GPUs first.
  std::vector<std::uint32_t> with_room(std::size_t tier, std::uint32_t tasks) const {
    const std::vector<Domain>& domains = tiers_[tier];
    std::vector<std::uint32_t> order;
    for (std::uint32_t domain = 0; domain < domains.size(); ++domain) {
      if (domains[domain].room >= tasks) { order.push_back(domain); }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return domains[a].free < domains[b].free; });
    return order;
  }

  std::optional<Allocation> place_in(std::size_t tier, std::uint32_t domain, const Shape& shape, Inventory& inventory) {
    Allocation allocation;
    for (std::uint32_t group = 0; group < shape.size(); ++group) {
      const std::uint32_t segment = settings_.segment > 0 ? settings_.segment : 1;
      const std::uint32_t rest = shape[group].tasks % segment;
      if (place_tasks(tier, domain, group, shape[group].each, {segment, shape[group].tasks - rest}, inventory,
                      allocation) &&
          place_tasks(tier, domain, group, shape[group].each, {std::max(rest, 1U), rest}, inventory, allocation)) {
        continue;
      }
      inventory.give_back(allocation, shape);
      return {};
    }
    return allocation;
  }

  /// So many tasks, as multiples of a segment that lies in one domain of the tier that is asked for.
  struct Wanted {
    std::uint32_t segment;
    std::uint32_t tasks;
  };

  bool place_tasks(std::size_t tier, std::uint32_t domain, std::uint32_t group, const Demand& demand, Wanted wanted,
                   Inventory& inventory, Allocation& allocation) {
    if (wanted.tasks == 0) { return true; }
    if (measure(tier, domain, demand, wanted.segment, inventory) < wanted.tasks) { return false; }
    fill(tier, domain, group, demand, wanted.tasks, inventory, allocation);
    return true;
  }

  /// How many tasks a domain takes, and each of its parts.
  std::uint32_t measure(std::size_t tier, std::uint32_t domain, const Demand& demand, std::uint32_t segment,
                        const Inventory& inventory) {
    Domain& here = tiers_[tier][domain];
    std::uint64_t room = 0;
    here.free = 0;
    for (const std::uint32_t part : here.parts) {
      if (tier > 0) {
        room += measure(tier - 1, part, demand, segment, inventory);
        here.free += tiers_[tier - 1][part].free;
        continue;
      }
      const NodeId node{part};
      node_rooms_[node] = std::min(inventory.room(node, demand), kMostTasks);
      room += node_rooms_[node];
      here.free += inventory.is_open(node) ? inventory.free_gpus(node).count() : 0;
    }
    here.room = static_cast<std::uint32_t>(std::min<std::uint64_t>(room, kMostTasks));
    if (settings_.segment > 0 && tier + 1 == settings_.highest_tier) { here.room -= here.room % segment; }
    return here.room;
  }

  /// The parts with the most room, and the tightest that takes the rest. Requires measured room for them.
  void fill(std::size_t tier, std::uint32_t domain, std::uint32_t group, const Demand& demand, std::uint32_t tasks,
            Inventory& inventory, Allocation& allocation) {
    const auto room = [&](std::uint32_t part) {
      return tier == 0 ? node_rooms_[NodeId{part}] : tiers_[tier - 1][part].room;
    };
    std::vector<std::uint32_t> parts = tiers_[tier][domain].parts;
    std::stable_sort(parts.begin(), parts.end(), [&](std::uint32_t a, std::uint32_t b) { return room(a) > room(b); });
    std::uint32_t left = tasks;
    for (auto part = parts.begin(); left > 0; ++part) {
      if (room(*part) >= left) {
        const auto too_small =
            std::partition_point(part, parts.end(), [&](std::uint32_t p) { return room(p) >= left; });
        const std::uint32_t tightest = room(*(too_small - 1));
        part = std::partition_point(part, too_small, [&](std::uint32_t p) { return room(p) > tightest; });
      }
      const std::uint32_t here = std::min(left, room(*part));
      if (tier == 0) {
        take_tasks(NodeId{*part}, group, demand, here, inventory, allocation);
      } else {
        fill(tier - 1, *part, group, demand, here, inventory, allocation);
      }
      left -= here;
    }
  }

  static constexpr std::uint32_t kMostTasks = 1U << 30U;

  const NodeList& nodes_;
  TopologySettings settings_;
  IdVector<NodeId, std::uint32_t> node_rooms_;
  std::vector<std::vector<Domain>> tiers_;
};

}  // namespace

struct TopologyPlacement final : PlacementKind {
  static constexpr std::string_view kName = "topology";
  static constexpr std::string_view kMeaning =
      "below the lowest switch that takes the job, on as few leaves and nodes as possible (Volcano, Kueue, Slurm)";
  TopologySettings settings;
  SourceLocation place;

  void visit(Fields& fields) override {
    fields.optional("mode", settings.mode, "A job waits until it fits below one switch, or is spread where it does not",
                    {{"required", Mode::required}, {"preferred", Mode::preferred}});
    fields.optional("highest_tier", settings.highest_tier,
                    "Of the switch, where that or segments are required; 1: those that nodes are connected to",
                    {1, 100});
    fields.optional("segment", settings.segment,
                    "So many tasks lie below one switch of that tier, wherever the others are; 0: no segments",
                    {0, 1'000'000});
    place = fields.place("highest_tier");
    if (fields.ok() && settings.segment > 0 && settings.mode == Mode::required) {
      fields.problem("segment", "conflict", "segments are always required, and the job as a whole is not then",
                     "leave out \"mode\"");
    }
    if (fields.ok() && fields.has("highest_tier") && settings.segment == 0 && settings.mode == Mode::preferred) {
      fields.problem("highest_tier", "conflict", "a preferred topology has no highest tier",
                     "leave it out, or write \"mode\": \"required\" or a \"segment\"");
    }
  }

  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    const bool uses_tier = settings.mode == Mode::required || settings.segment > 0;
    if (uses_tier && settings.highest_tier > nodes.tiers.size()) {
      std::vector<std::string> known;
      for (const NodeTier& tier : nodes.tiers) { known.push_back(fmt::format("{} ({})", known.size() + 1, tier.name)); }
      throw ScenarioError({"no-tier", fmt::format("the cluster has no tier {}", settings.highest_tier), place,
                           known.empty() ? "its nodes are below no switches" : "it has " + enumeration(known)});
    }
    return std::make_unique<TopologyPolicy>(nodes, settings);
  }
};

template PlacementEntry placement_entry_of<TopologyPlacement>();

}  // namespace athanor
