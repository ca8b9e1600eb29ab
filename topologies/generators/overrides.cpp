#include "topologies/generators/overrides.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

namespace {

Bandwidth times(Bandwidth rate, const Ratio& factor) {
  if (rate == Bandwidth::max()) { return rate; }
  return std::max(scaled_down(rate, factor), Bandwidth{1});
}

void scale(Fabric& fabric, LinkId id, const LinkScaling& scaling) {
  Link link = fabric.link(id);
  if (link.kind != scaling.kind) { return; }
  link.rate = times(link.rate, scaling.rate);
  link.usable = std::min(times(link.usable, scaling.rate), link.rate);
  link.latency = scaled_down(link.latency, scaling.latency);
  fabric.change(id, link);
}

/// Names that a message lists before it counts the rest.
constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kMostPairs = 4'000'000;

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  std::string text = fmt::format("{}", joined(std::span(names).first(shown), ", "));
  return names.size() == shown ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

class Overriding {
 public:
  Overriding(Cluster& cluster, Problems& problems)
      : cluster_(cluster), fabric_(*cluster.fabric), problems_(problems), changed_(fabric_.links(), false) {
    for (std::uint32_t v = 0; v < fabric_.vertices(); ++v) { names_.push_back(fabric_.name(VertexId{v})); }
  }

  void apply(const LinkOverride& given) {
    const std::vector<bool> from = devices(given.from);
    const std::vector<bool> to = devices(given.to);
    const std::size_t before = problems_.size();
    if (!any(from, given.from, given.place) || !any(to, given.to, given.place)) { return; }
    std::size_t found = change(given, from, to);
    if (given.both_ways) { found += change(given, to, from); }
    if (found == 0 && problems_.size() == before) { no_such_link(given, from); }
  }

  void finish(const SourceLocation& place) {
    cluster_.alike_from_every_node = false;
    const auto links = std::count(changed_.begin(), changed_.end(), true);
    cluster_.description += fmt::format(", {} {} overridden", links, links == 1 ? "link" : "links");
    divide();
    if (fabric_.links_down() == 0) { return; }
    cluster_.warnings.push_back(fmt::format("{} {} down, counted in one direction: {}", fabric_.links_down(),
                                            fabric_.links_down() == 1 ? "link" : "links", listed(down())));
    if (check_connected(place)) { check_routes(place); }
  }

 private:
  /// What is down, parallel links as one.
  std::vector<std::string> down() const {
    std::map<std::string, std::uint32_t> parallel;
    std::vector<std::string> found;
    for (std::uint32_t l = 0; l < fabric_.links(); ++l) {
      if (!fabric_.link(LinkId{l}).down) { continue; }
      const std::string name = fabric_.name(LinkId{l});
      if (parallel[name]++ == 0) { found.push_back(name); }
    }
    for (std::string& name : found) {
      if (parallel[name] > 1) { name += fmt::format(" ({} in parallel)", parallel[name]); }
    }
    return found;
  }

  std::vector<bool> devices(const std::string& pattern) const {
    std::vector<bool> found(names_.size());
    for (std::size_t v = 0; v < names_.size(); ++v) { found[v] = matches_pattern(pattern, names_[v]); }
    return found;
  }

  bool any(const std::vector<bool>& devices, const std::string& pattern, const SourceLocation& place) {
    if (std::find(devices.begin(), devices.end(), true) != devices.end()) { return true; }
    const std::string close = nearest(pattern, names_);
    problems_.add({"no-such-link", fmt::format("no device is called \"{}\"", pattern), place,
                   close.empty()
                       ? "`athanor describe FILE --fabric=OUT.json` writes all names, such as leaf0 and node3/nic1"
                       : fmt::format("did you mean \"{}\"?", close)});
    return false;
  }

  void no_such_link(const LinkOverride& given, const std::vector<bool>& from) {
    const auto first = static_cast<std::uint32_t>(std::find(from.begin(), from.end(), true) - from.begin());
    std::set<std::uint32_t> neighbours;
    const auto [link, count] = fabric_.out(VertexId{first});
    for (std::uint32_t l = link; l < link + count; ++l) { neighbours.insert(fabric_.target(LinkId{l}).value); }
    std::vector<std::string> names;
    for (const std::uint32_t v : neighbours) { names.push_back(names_[v]); }
    problems_.add({"no-such-link", fmt::format("no link leads from \"{}\" to \"{}\"", given.from, given.to),
                   given.place,
                   fmt::format("{} is linked to {}", names_[first], names.empty() ? "nothing" : listed(names))});
  }

  /// Returns how many links lead from the ones to the others.
  std::size_t change(const LinkOverride& given, const std::vector<bool>& from, const std::vector<bool>& to) {
    std::size_t found = 0;
    for (std::uint32_t v = 0; v < from.size(); ++v) {
      if (!from[v]) { continue; }
      std::map<std::uint32_t, std::uint32_t> cables;
      const auto [first, count] = fabric_.out(VertexId{v});
      for (std::uint32_t l = first; l < first + count; ++l) {
        const std::uint32_t target = fabric_.target(LinkId{l}).value;
        if (!to[target] || cables[target]++ >= given.cables.value_or(UINT32_MAX)) { continue; }
        ++found;
        change(given, LinkId{l});
      }
    }
    return found;
  }

  void change(const LinkOverride& given, LinkId id) {
    Link link = fabric_.link(id);
    if (given.rate) {
      link.usable = std::max(scaled_down(*given.rate, {link.usable.count(), link.rate.count()}), Bandwidth{1});
      link.rate = *given.rate;
    }
    link.usable = given.usable.value_or(link.usable);
    link.latency = given.latency.value_or(link.latency);
    link.down = given.down;
    if (link.usable > link.rate) {
      if (given.place.pointer == reported_) { return; }
      reported_ = given.place.pointer;
      problems_.add({"out-of-range", fmt::format("the usable rate is above the line rate of {}", fabric_.name(id)),
                     given.place, "give a \"rate\" beside it"});
      return;
    }
    fabric_.change(id, link);
    changed_[id.value] = true;
  }

  /// The nodes that changed links belong to are worth a cut of their own: others no longer show what theirs carries.
  void divide() {
    constexpr std::size_t kMostNodes = 64;
    std::map<std::uint32_t, CutSet> cut_sets;
    for (std::uint32_t l = 0; l < fabric_.links() && cut_sets.size() < kMostNodes; ++l) {
      if (!changed_[l]) { continue; }
      for (const VertexId end : {fabric_.source(LinkId{l}), fabric_.target(LinkId{l})}) {
        const std::uint32_t node = fabric_.vertex(end).node;
        if (node != kNoNode) { cut_sets[node].name = fmt::format("node {}", node); }
      }
    }
    for (std::uint32_t v = 0; v < fabric_.vertices() && !cut_sets.empty(); ++v) {
      const auto found = cut_sets.find(fabric_.vertex(VertexId{v}).node);
      if (found != cut_sets.end()) { found->second.inside.push_back({v, 1}); }
    }
    for (auto& [node, set] : cut_sets) { cluster_.cut_sets.push_back(std::move(set)); }
  }

  /// Whether every endpoint reaches the first one and is reached by it. Else the smaller side is told by name.
  bool check_connected(const SourceLocation& place) {
    const std::vector<VertexId>& endpoints = cluster_.endpoints;
    const ShortestPathRouter router(fabric_, 0, cluster_.network);
    const std::vector<bool> reached = router.reached_from(endpoints.front());
    std::vector<std::string> with;
    std::vector<std::string> without;
    for (const VertexId endpoint : endpoints) {
      const bool joined = reached[endpoint.value] && router.reaches(endpoint, endpoints.front());
      (joined ? with : without).push_back(names_[endpoint.value]);
    }
    if (without.empty()) { return true; }
    const std::vector<std::string>& cut_off = with.size() < without.size() ? with : without;
    problems_.add({"cut-off",
                   fmt::format("{} of {} endpoints {} cut off by links that are down: {}", cut_off.size(),
                               endpoints.size(), cut_off.size() == 1 ? "is" : "are", listed(cut_off)),
                   place, "leave a way to them, in both directions"});
    return false;
  }

  void check_routes(const SourceLocation& place) {
    const std::size_t n = cluster_.endpoints.size();
    const std::size_t step = n * n <= kMostPairs ? 1 : n * n / kMostPairs + 1;
    std::vector<std::string> lost;
    std::string reason;
    std::vector<LinkId> path;
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = from % step; to < n; to += step) {
        path.clear();
        try {
          cluster_.router->route({cluster_.endpoints[from], cluster_.endpoints[to], 0}, path);
        } catch (const SimulationError& error) {
          lost.push_back(
              fmt::format("{} to {}", names_[cluster_.endpoints[from].value], names_[cluster_.endpoints[to].value]));
          reason = error.what();
        }
      }
    }
    if (lost.empty()) { return; }
    problems_.add({"lost-route",
                   fmt::format("{}{} {} of endpoints {} way: {}. The last: {}", step > 1 ? "at least " : "",
                               lost.size(), lost.size() == 1 ? "pair" : "pairs",
                               lost.size() == 1 ? "loses its" : "lose their", listed(lost), reason),
                   place, R"(write "network": {"routing": "ecmp"} where the fabric can do it, which goes round)"});
  }

  Cluster& cluster_;
  Fabric& fabric_;
  Problems& problems_;
  std::vector<bool> changed_;  ///< by link
  std::vector<std::string> names_;
  std::string reported_ = "none";  ///< the override whose rates were complained of last
};

}  // namespace

void scale_links(Cluster& cluster, const std::vector<LinkScaling>& scalings) {
  for (const LinkScaling& scaling : scalings) {
    require(scaling.rate.numerator > 0, "links of no rate");
    for (LinkId id{0}; id.value < cluster.fabric->links(); ++id.value) { scale(*cluster.fabric, id, scaling); }
  }
}

void apply_overrides(Cluster& cluster, const std::vector<LinkOverride>& overrides, Problems& problems) {
  if (overrides.empty()) { return; }
  const std::size_t before = problems.size();
  Overriding overriding(cluster, problems);
  for (const LinkOverride& given : overrides) { overriding.apply(given); }
  if (problems.size() == before) { overriding.finish(overrides.front().place); }
}

}  // namespace athanor
