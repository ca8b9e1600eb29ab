#include "tools/import/fabric/htsim_topology.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "tools/import/imported_rows.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMostNumber = 1'000'000;

struct TierKey {
  std::string_view name;
  std::int64_t HtsimTier::*field;
};
constexpr std::array<TierKey, 7> kTierKeys{{{"downlink_speed_gbps", &HtsimTier::gigabits},
                                            {"radix_down", &HtsimTier::radix_down},
                                            {"radix_up", &HtsimTier::radix_up},
                                            {"downlink_latency_ns", &HtsimTier::latency_ns},
                                            {"switch_latency_ns", &HtsimTier::switch_latency_ns},
                                            {"oversubscribed", &HtsimTier::oversubscribed},
                                            {"bundle", &HtsimTier::bundle}}};

struct HeadKey {
  std::string_view name;
  std::int64_t HtsimTopology::*field;
};
constexpr std::array<HeadKey, 3> kHeadKeys{
    {{"nodes", &HtsimTopology::nodes}, {"tiers", &HtsimTopology::tiers}, {"podsize", &HtsimTopology::hosts_per_pod}}};

class TopologyReader {
 public:
  explicit TopologyReader(FabricDraft& draft) : draft_(draft) {}

  std::optional<HtsimTopology> read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) {
      const auto words = words_of_line(line.substr(0, line.find('#')));
      if (!words.empty()) { take(number, words); }
    });
    if (draft_.ok()) { check_present(); }
    if (draft_.ok()) { check_counts(); }
    if (!draft_.ok()) { return std::nullopt; }
    if (queues_) { draft_.note("queue sizes are left out; they are those of \"network\" at packet level"); }
    return topology_;
  }

 private:
  void take(int number, const std::vector<std::string_view>& words) {
    std::string key(words[0]);
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto value = words.size() == 2 ? whole_number_of(words[1]) : std::nullopt;
    if (!value || *value < 0 || *value > kMostNumber) {
      problem(number, "wrong-number", fmt::format("{} needs one whole number up to {}", words[0], kMostNumber),
              "htsim's files hold a key and a number on each line");
    } else if (key == "tier") {
      begin_tier(number, *value);
    } else if (current_ < 0) {
      set_head(number, key, *value);
    } else {
      set_tier(number, key, *value);
    }
  }

  void begin_tier(int number, std::int64_t tier) {
    if (tier > 2) {
      problem(number, "out-of-range", fmt::format("there is no tier {}", tier), "tiers are 0, 1 and 2");
      return;
    }
    current_ = static_cast<int>(tier);
    HtsimTier& here = topology_.tier[static_cast<std::size_t>(tier)];
    if (here.line > 0) {
      problem(number, "duplicate-key", fmt::format("tier {} is on line {} already", tier, here.line), "take one out");
    }
    here.line = number;
    seen_.clear();
  }

  void set_head(int number, const std::string& key, std::int64_t value) {
    for (const HeadKey& known : kHeadKeys) {
      if (key == known.name) { return set(number, key, topology_.*known.field, value); }
    }
    problem(number, "unknown-key", fmt::format("'{}' is no key before the first tier", key),
            "Nodes, Tiers and Podsize are");
  }

  void set_tier(int number, const std::string& key, std::int64_t value) {
    queues_ = queues_ || key == "queue_up" || key == "queue_down";
    if (key == "queue_up" || key == "queue_down") { return; }
    for (const TierKey& known : kTierKeys) {
      if (key == known.name) {
        return set(number, key, topology_.tier[static_cast<std::size_t>(current_)].*known.field, value);
      }
    }
    problem(number, "unknown-key", fmt::format("'{}' is no key of a tier", key),
            "speed, radix, latency, oversubscription, bundle and queues are");
  }

  void set(int number, const std::string& key, std::int64_t& field, std::int64_t value) {
    if (!seen_.insert(key).second) {
      problem(number, "duplicate-key", fmt::format("{} comes a second time", key), "take one of them out");
    }
    field = value;
  }

  void check_present() {
    if (topology_.nodes == 0 || topology_.hosts_per_pod == 0) {
      problem(1, "missing-key", "Nodes or Podsize is missing", "both stand before the first tier");
    }
    if (topology_.tiers != 2 && topology_.tiers != 3) {
      problem(1, "out-of-range", fmt::format("{} tiers", topology_.tiers), "htsim knows fat trees of 2 and 3 tiers");
      return;
    }
    for (std::int64_t tier = 0; tier < topology_.tiers; ++tier) {
      const HtsimTier& here = topology_.tier[static_cast<std::size_t>(tier)];
      const bool top = tier + 1 == topology_.tiers;
      const std::array<std::pair<std::string_view, std::int64_t>, 6> needed{{{"Downlink_speed_Gbps", here.gigabits},
                                                                             {"Radix_Down", here.radix_down},
                                                                             {"Radix_Up", top ? 1 : here.radix_up},
                                                                             {"Downlink_Latency_ns", here.latency_ns},
                                                                             {"Oversubscribed", here.oversubscribed},
                                                                             {"Bundle", here.bundle}}};
      for (const auto& [key, value] : needed) {
        if (value > 0) { continue; }
        problem(std::max(1, here.line), "missing-key", fmt::format("{} of tier {} is missing or 0", key, tier),
                "every tier has its speed, radix and latency");
      }
    }
  }

  void check_counts() {
    const HtsimTier& leaf = topology_.tier[0];
    const HtsimTier& spine = topology_.tier[1];
    const std::int64_t pods = topology_.nodes / topology_.hosts_per_pod;
    whole(1, topology_.nodes, topology_.hosts_per_pod, "Nodes", "Podsize");
    whole(leaf.line, topology_.hosts_per_pod, leaf.radix_down, "Podsize", "Radix_Down of tier 0");
    whole(leaf.line, leaf.radix_up, spine.bundle, "Radix_Up of tier 0", "Bundle of tier 1");
    same(leaf.line, leaf.bundle, 1, "Bundle of tier 0", "1: a host has one cable");
    if (!draft_.ok()) { return; }
    same(leaf.line, leaf.radix_up * spine.gigabits * leaf.oversubscribed, leaf.radix_down * leaf.gigabits,
         "up-links of a leaf times Oversubscribed", "its links to hosts, in Gb/s");
    const std::int64_t leaves = topology_.tiers == 2 ? topology_.leaves() : topology_.leaves_per_pod();
    same(spine.line, spine.radix_down, leaves * spine.bundle, "Radix_Down of tier 1", "its leaves times Bundle");
    if (topology_.tiers == 2) {
      same(1, topology_.hosts_per_pod, topology_.nodes, "Podsize with two tiers", "Nodes");
      return;
    }
    const HtsimTier& core = topology_.tier[2];
    same(spine.line, spine.radix_up * core.gigabits * spine.oversubscribed, spine.radix_down * spine.gigabits,
         "up-links of a spine times Oversubscribed", "its links to leaves, in Gb/s");
    whole(spine.line, spine.radix_up, core.bundle, "Radix_Up of tier 1", "Bundle of tier 2");
    same(core.line, core.radix_down, pods * core.bundle, "Radix_Down of tier 2", "pods times Bundle");
  }

  void whole(int line, std::int64_t a, std::int64_t b, std::string_view what, std::string_view by) {
    if (a % b == 0) { return; }
    problem(line, "does-not-fit", fmt::format("{} {} is no multiple of {} {}", what, a, by, b), "make it one");
  }
  void same(int line, std::int64_t a, std::int64_t b, std::string_view what, std::string_view other) {
    if (a == b) { return; }
    problem(line, "does-not-fit", fmt::format("{} is {}, and {} is {}", what, a, other, b), "they must be the same");
  }
  void problem(int line, std::string code, std::string message, std::string hint) {
    draft_.problem(std::max(1, line), std::move(code), std::move(message), std::move(hint));
  }

  FabricDraft& draft_;
  HtsimTopology topology_;
  int current_ = -1;  ///< tier
  std::set<std::string> seen_;
  bool queues_ = false;
};

/// A link downwards from a tier; `below`: the latency of the switch at its lower end.
JsonValue link_json(const HtsimTier& tier, std::int64_t below) {
  constexpr std::int64_t kPicoseconds = 1'000;
  const Time latency{tier.latency_ns * kPicoseconds + (tier.switch_latency_ns + below) * kPicoseconds / 2};
  return {{"rate", fmt::format("{} Gb/s", tier.gigabits)}, {"latency", to_string(latency)}};
}

}  // namespace

std::optional<HtsimTopology> read_htsim_topology(std::string_view text, FabricDraft& draft) {
  return TopologyReader(draft).read(text);
}

JsonValue cluster_json(const HtsimTopology& topology) {
  const auto& [leaf, spine, core] = topology.tier;
  JsonValue fabric{{"kind", "fat_tree"},
                   {"tiers", topology.tiers},
                   {"leaves", topology.leaves()},
                   {"hosts_per_leaf", leaf.radix_down},
                   {"spines", leaf.radix_up / spine.bundle}};
  JsonValue oversubscription = JsonValue::List{leaf.oversubscribed};
  if (topology.tiers == 3) {
    fabric["leaves_per_pod"] = topology.leaves_per_pod();
    fabric["cores"] = leaf.radix_up / spine.bundle * (spine.radix_up / core.bundle);
    oversubscription.push_back(spine.oversubscribed);
  }
  fabric["oversubscription"] = oversubscription;
  fabric["link"] = link_json(leaf, 0);
  fabric["uplink"] = link_json(spine, leaf.switch_latency_ns);
  if (topology.tiers == 3) { fabric["core_link"] = link_json(core, spine.switch_latency_ns); }
  return {{"nodes", topology.nodes}, {"fabric", std::move(fabric)}};
}

}  // namespace athanor
