#include "tools/import/fabric/slurm_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "sim/words.hpp"
#include "tools/import/fabric/hostlist.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

/// Builds the graph of one tree of switches.
class Tree {
 public:
  Tree(const AssumedLinks& links, FabricDraft& draft) : links_(links), draft_(draft) {}

  void add(const std::vector<SlurmSwitch>& switches) {
    if (!fits(switches)) { return; }
    for (const SlurmSwitch& each : switches) { add_hosts(each); }
    for (std::size_t i = 0; i < switches.size(); ++i) { add_switch(switches[i], i); }
    if (!draft_.ok()) { return; }
    for (std::size_t i = 0; i < switches.size(); ++i) { add_children(switches[i], i); }
    if (!draft_.ok()) { return; }
    for (std::size_t i = 0; i < switches.size(); ++i) {
      if (!walk(i)) { return; }
    }
    connect();
  }

 private:
  struct Switch {
    std::string name;
    std::uint32_t device = 0;
    int line = 0;
    std::vector<std::uint32_t> hosts;     ///< devices
    std::vector<std::uint32_t> children;  ///< switches, by number
    std::uint32_t parents = 0;
    std::uint32_t tier = kUnknown;  ///< 0: leaf
    std::uint64_t hosts_below = 0;
    bool on_the_way = false;
  };

  /// A few lines can name billions of nodes: they are counted before the first is made.
  bool fits(const std::vector<SlurmSwitch>& switches) {
    std::size_t names = 0;
    for (const SlurmSwitch& each : switches) {
      names += hosts_in(each.nodes) + hosts_in(each.switches);
      if (names <= kMostHosts) { continue; }
      draft_.problem(each.line, "too-large",
                     fmt::format("up to this line the file names more than {} nodes and switches", kMostHosts),
                     "are the ranges right?");
      return false;
    }
    return true;
  }

  std::vector<std::string> names_of(const std::string& text, const SlurmSwitch& where) {
    if (text.empty()) { return {}; }
    Hostlist list = hostlist(text);
    if (!list.fault.empty()) {
      draft_.problem(where.line, "hostlist", fmt::format("'{}' is no list of names: {}", text, list.fault),
                     "write names as in tux[0-3,12]");
    }
    return std::move(list.names);
  }

  /// A node may be on several leaves: then it has a link to each.
  void add_hosts(const SlurmSwitch& each) {
    Switch made;
    made.name = each.name;
    made.line = each.line;
    for (std::string& name : names_of(each.nodes, each)) {
      const std::optional<std::uint32_t> known = draft_.find(name);
      made.hosts.push_back(known ? *known : draft_.add(std::move(name), VertexKind::host, each.line));
    }
    std::vector<std::uint32_t> sorted = made.hosts;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      draft_.problem(each.line, "duplicate-device",
                     fmt::format("{} has the node {} twice", each.name, draft_.devices()[*twice].name), "name it once");
    }
    switches_.push_back(std::move(made));
  }

  void add_switch(const SlurmSwitch& each, std::size_t at) {
    switches_[at].device = draft_.add(each.name, VertexKind::leaf, each.line);
    by_name_.emplace(each.name, static_cast<std::uint32_t>(at));
    if (each.nodes.empty() && each.switches.empty()) {
      draft_.problem(each.line, "empty-switch", fmt::format("nothing is below {}", each.name),
                     "name its Nodes or its Switches");
    }
  }

  void add_children(const SlurmSwitch& each, std::size_t at) {
    for (const std::string& name : names_of(each.switches, each)) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) {
        draft_.problem(each.line, "unknown-switch",
                       fmt::format("{} has a switch {} that is not there", each.name, name),
                       "give it a line of its own, or take it out");
        continue;
      }
      switches_[at].children.push_back(found->second);
      ++switches_[found->second].parents;
    }
  }

  /// Sets tier and hosts below; false for a circle. Iterative: a chain may be long.
  bool walk(std::size_t root) {
    if (switches_[root].tier != kUnknown) { return true; }
    std::vector<std::pair<std::uint32_t, std::size_t>> way{{static_cast<std::uint32_t>(root), 0}};
    switches_[root].on_the_way = true;
    while (!way.empty()) {
      auto& [at, next] = way.back();
      Switch& here = switches_[at];
      if (next == here.children.size()) {
        settle(here);
        way.pop_back();
        continue;
      }
      const std::uint32_t child = here.children[next++];
      if (switches_[child].on_the_way) {
        refuse_circle(way, child);
        return false;
      }
      if (switches_[child].tier != kUnknown) { continue; }
      switches_[child].on_the_way = true;
      way.emplace_back(child, 0);
    }
    return true;
  }

  void settle(Switch& here) {
    here.tier = 0;
    here.hosts_below = here.hosts.size();
    for (const std::uint32_t child : here.children) {
      here.tier = std::max(here.tier, switches_[child].tier + 1);
      here.hosts_below += switches_[child].hosts_below;
    }
    here.on_the_way = false;
  }

  void refuse_circle(const std::vector<std::pair<std::uint32_t, std::size_t>>& way, std::uint32_t again) {
    std::vector<std::string> names;
    bool inside = false;
    for (const auto& [at, next] : way) {
      inside = inside || at == again;
      if (inside) { names.push_back(switches_[at].name); }
    }
    names.push_back(switches_[again].name);
    draft_.problem(switches_[again].line, "circle",
                   fmt::format("the switches go in a circle: {}", joined(names, " above ")),
                   "a tree has a top; take one of these Switches= out");
  }

  void connect() {
    for (const Switch& here : switches_) {
      constexpr std::array kTiers{VertexKind::leaf, VertexKind::spine, VertexKind::core};
      draft_.set_kind(here.device, kTiers[std::min<std::size_t>(here.tier, kTiers.size() - 1)]);
      for (const std::uint32_t host : here.hosts) { draft_.connect(host, here.device, link(*links_.rate)); }
      for (const std::uint32_t child : here.children) { connect_up(switches_[child], here); }
    }
    draft_.check_connected("a switch above joins switches: SwitchName=top Switches=...");
  }

  void connect_up(const Switch& child, const Switch& parent) {
    const Wide all = Wide{links_.rate->count()} * child.hosts_below * links_.oversubscription.denominator;
    const Wide rate = all / links_.oversubscription.numerator / std::max(child.parents, 1U);
    if (rate > std::numeric_limits<std::int64_t>::max()) {
      draft_.problem(child.line, "out-of-range", fmt::format("the link up from {} is too fast", child.name));
      return;
    }
    draft_.connect(child.device, parent.device,
                   link(Bandwidth{std::max<std::int64_t>(1, static_cast<std::int64_t>(rate))}));
  }

  Link link(Bandwidth rate) const { return {rate, rate, *links_.latency, LinkKind::network}; }

  const AssumedLinks& links_;
  FabricDraft& draft_;
  std::vector<Switch> switches_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // never iterated
};

bool have_rates(const AssumedLinks& links, int line, FabricDraft& draft) {
  if (links.rate && links.latency) { return true; }
  draft.problem(line, "missing-rate", "Slurm's files have no rates",
                "add --link-rate RATE and --link-latency TIME, as in --link-rate 400Gb/s --link-latency 300ns");
  return false;
}

}  // namespace

void add_slurm_tree(const std::vector<SlurmSwitch>& switches, const AssumedLinks& links, FabricDraft& draft) {
  if (switches.empty()) {
    draft.problem(1, "empty", "there is no switch", "a line begins with SwitchName=, or with BlockName=");
    return;
  }
  if (!have_rates(links, switches.front().line, draft)) { return; }
  draft.note(fmt::format(
      "hosts have links of {}, switches up-links as wide as all hosts below{}", to_string(*links.rate),
      links.oversubscription == Ratio{1, 1} ? "" : fmt::format(", divided by {}", to_string(links.oversubscription))));
  Tree(links, draft).add(switches);
}

void add_slurm_blocks(const std::vector<SlurmSwitch>& blocks, const AssumedLinks& links, FabricDraft& draft) {
  if (blocks.size() < 2) {
    add_slurm_tree(blocks, links, draft);
    return;
  }
  std::vector<SlurmSwitch> tree = blocks;
  SlurmSwitch above{"all-blocks", "", "", blocks.front().line};
  for (const SlurmSwitch& block : blocks) {
    above.switches += above.switches.empty() ? "" : ",";
    above.switches += block.name;
  }
  tree.push_back(std::move(above));
  draft.note("blocks say what belongs together, not how they are joined: one switch above joins them here");
  add_slurm_tree(tree, links, draft);
}

}  // namespace athanor
