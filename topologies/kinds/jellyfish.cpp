#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

namespace {

/// Distances of all pairs are kept: 32 MiB.
constexpr std::uint32_t kMostSwitches = 4096;

struct JellyfishShape {
  std::uint32_t switches = 2;  ///< N
  std::uint32_t cables = 1;    ///< r, of each
  std::uint64_t seed = 1;
};

/// By switch the others that it is joined to, ascending.
using Neighbours = std::vector<std::vector<std::uint32_t>>;

/// The shape, where there is a connected graph of it.
const JellyfishShape& checked(const JellyfishShape& shape) {
  const auto refuse = [](std::string code, std::string reason, std::string hint) {
    throw ScenarioError(Problem{std::move(code), std::move(reason), {}, std::move(hint)});
  };
  if (shape.switches > kMostSwitches) {
    refuse("too-large", fmt::format("a Jellyfish of {} switches, and {} are the most", shape.switches, kMostSwitches),
           "describe a smaller cluster");
  }
  if (shape.cables >= shape.switches) {
    refuse("does-not-fit", fmt::format("{} switches with {} cables each to others", shape.switches, shape.cables),
           shape.switches > 1 ? fmt::format("use at most {} cables per switch", shape.switches - 1) : "use a star");
  }
  if (shape.switches * shape.cables % 2 == 1) {
    refuse("does-not-fit",
           fmt::format("{} switches with {} cables each have an odd number of ends", shape.switches, shape.cables),
           "make one of the two even");
  }
  if (shape.cables == 1 && shape.switches > 2) {
    refuse("does-not-fit", fmt::format("{} switches with one cable each are joined in pairs only", shape.switches),
           "use 2 cables per switch or more, better 3");
  }
  return shape;
}

/// Wires a random regular graph as Singla et al. do: random pairs with free ports are joined until none are left; ports
/// that are then still free take the place of both ends of a random cable.
class Wiring {
 public:
  Wiring(std::uint32_t switches, std::uint32_t cables, std::uint64_t seed)
      : n_(switches),
        draws_(join_hash(seed, n_)),
        joined_(std::size_t{n_} * n_, false),
        open_(std::size_t{n_} * cables) {
    for (std::size_t port = 0; port < open_.size(); ++port) { open_[port] = static_cast<std::uint32_t>(port / cables); }
  }

  /// False where it came to an end at which another attempt has to be made.
  bool wire() {
    while (!open_.empty()) {
      if (!join_open_ports() && !split_a_cable()) { return false; }
    }
    return true;
  }

  bool connect() {
    for (std::uint32_t trial = 0; components() > 1; ++trial) {
      if (trial == kMostTrials) { return false; }
      join_components();
    }
    return true;
  }

  /// By switch all others that it is joined to, or that it is not joined to.
  Neighbours neighbours(bool joined) const {
    if (joined) { return neighbours(); }
    Neighbours found(n_);
    for (std::uint32_t a = 0; a < n_; ++a) {
      for (std::uint32_t b = 0; b < n_; ++b) {
        if (may_join(a, b)) { found[a].push_back(b); }
      }
    }
    return found;
  }

 private:
  using Cable = std::pair<std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t kMostTrials = 1000;

  Neighbours neighbours() const {
    Neighbours found(n_);
    for (const auto& [a, b] : cables_) {
      found[a].push_back(b);
      found[b].push_back(a);
    }
    for (auto& each : found) { std::sort(each.begin(), each.end()); }
    return found;
  }

  bool may_join(std::uint32_t a, std::uint32_t b) const { return a != b && !joined_[std::size_t{a} * n_ + b]; }

  void mark(std::uint32_t a, std::uint32_t b, bool joined) {
    joined_[std::size_t{a} * n_ + b] = joined_[std::size_t{b} * n_ + a] = joined;
  }

  /// Puts a cable in place of one that is there, or beside all.
  void set(std::size_t cable, Cable ends) {
    if (cable < cables_.size()) {
      mark(cables_[cable].first, cables_[cable].second, false);
    } else {
      cables_.emplace_back();
    }
    cables_[cable] = ends;
    mark(ends.first, ends.second, true);
  }

  std::size_t draw(std::size_t count) { return draws_.below(static_cast<std::uint32_t>(count)); }

  void close(std::size_t port) {
    open_[port] = open_.back();
    open_.pop_back();
  }

  /// Draws two free ports; where that fails often, few are left, and all pairs are looked at.
  bool join_open_ports() {
    for (std::uint32_t trial = 0; trial < 32; ++trial) {
      if (join_ports(draw(open_.size()), draw(open_.size()))) { return true; }
    }
    for (std::size_t one = 0; one < open_.size(); ++one) {
      for (std::size_t other = one + 1; other < open_.size(); ++other) {
        if (join_ports(one, other)) { return true; }
      }
    }
    return false;
  }

  bool join_ports(std::size_t one, std::size_t other) {
    if (!may_join(open_[one], open_[other])) { return false; }
    set(cables_.size(), {open_[one], open_[other]});
    close(std::max(one, other));
    close(std::min(one, other));
    return true;
  }

  /// The last two free ports take both ends of a random cable that leads to neither of their switches.
  bool split_a_cable() {
    const std::uint32_t p = open_[open_.size() - 1];
    const std::uint32_t q = open_[open_.size() - 2];
    for (std::uint32_t trial = 0; trial < kMostTrials && !cables_.empty(); ++trial) {
      const std::size_t cable = draw(cables_.size());
      const auto [x, y] = cables_[cable];
      if (!may_join(p, x) || !may_join(q, y)) { continue; }
      set(cable, {p, x});
      set(cables_.size(), {q, y});
      open_.resize(open_.size() - 2);
      return true;
    }
    return false;
  }

  /// Counts them, and numbers each switch's in component_.
  std::uint32_t components() {
    const Neighbours to = neighbours();
    component_.assign(n_, n_);
    std::uint32_t count = 0;
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t first = 0; first < n_; ++first) {
      if (component_[first] != n_) { continue; }
      component_[first] = count++;
      waiting.assign(1, first);
      while (!waiting.empty()) {
        const std::uint32_t at = waiting.back();
        waiting.pop_back();
        for (const std::uint32_t next : to[at]) {
          if (component_[next] != n_) { continue; }
          component_[next] = component_[at];
          waiting.push_back(next);
        }
      }
    }
    return count;
  }

  /// Crosses two random cables of different components: they become one unless both cables were the only way across.
  void join_components() {
    const std::size_t one = draw(cables_.size());
    const std::size_t other = draw(cables_.size());
    const auto [a, b] = cables_[one];
    const auto [c, d] = cables_[other];
    if (component_[a] == component_[c]) { return; }
    set(one, {a, c});
    set(other, {b, d});
  }

  std::uint32_t n_;
  FlowDraws draws_;
  std::vector<bool> joined_;         // [a][b]
  std::vector<std::uint32_t> open_;  // the switch of each free port
  std::vector<Cable> cables_;
  std::vector<std::uint32_t> component_;
};

/// Of a dense graph, which is connected whatever is drawn, the cables that it lacks are drawn.
Neighbours wired(const JellyfishShape& shape) {
  const bool dense = 2 * shape.cables >= shape.switches;
  const std::uint32_t cables = dense ? shape.switches - 1 - shape.cables : shape.cables;
  for (std::uint64_t attempt = 0; attempt < 100; ++attempt) {
    Wiring wiring(shape.switches, cables, join_hash(shape.seed, attempt));
    if (wiring.wire() && (dense || wiring.connect())) { return wiring.neighbours(!dense); }
  }
  require(false, "no connected graph of {} switches with {} cables each was found", shape.switches, shape.cables);
  return {};
}

/// Jellyfish (Singla, Hong, Popa, Godfrey, "Jellyfish: networking data centers randomly", NSDI 2012): N switches, each
/// with r cables to others, joined at random, and T endpoints on each. No two cables join the same two switches.
///   endpoints  N T
///   switches   N, of radix T + r
///   cables     N r / 2
///   diameter   that of the graph, near log N / log(r - 1) between switches, and 2 between endpoints beside; no mean
///              distance is less than that of Cerf et al., "A lower bound on the average shortest path length in
///              regular graphs", Networks 1974, and random graphs come within a fifth of it
///   halves     the first half of the switches: about N r / 4 cables. No half has fewer than N (r / 4 - sqrt(r ln 2) /
///   2)
///              (Bollobas, "The isoperimetric number of random graphs", European J. Combinatorics 1988), for large N
///
/// The wiring follows from the seed alone. Routing `minimal`: at each switch one of the neighbours that are nearer to
/// the target, drawn by the flow. `valiant`: minimal to a switch drawn by the flow and on from there. Singla et al. use
/// the 8 shortest paths of each pair, not equally long ones alone.
///
/// Ports: the neighbours in ascending order.
class Jellyfish : public ValiantGraph {
 public:
  /// Throws ScenarioError("does-not-fit", "too-large") where there is no such graph.
  explicit Jellyfish(const JellyfishShape& shape) : shape_(checked(shape)), neighbours_(wired(shape)) {
    distances_.resize(std::size_t{routers()} * routers());
    for (std::uint32_t first = 0; first < routers(); first += 64) { measure_from(first); }
  }

  std::string title() const override {
    return fmt::format("Jellyfish of {} switches with {} cables each", shape_.switches, shape_.cables);
  }

  PictureHint picture() const override { return {"box", {shape_.switches}}; }
  std::uint32_t routers() const override { return shape_.switches; }
  std::uint32_t ports(std::uint32_t router) const override {
    return static_cast<std::uint32_t>(neighbours_[router].size());
  }
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override { return neighbours_[router][port]; }

  std::vector<RouterSet> cut_sets() const override { return {{"half of the switches", {{0, routers() / 2}}, true}}; }

 private:
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const {
    return distances_[std::size_t{from} * routers() + to];
  }

  /// Breadth-first search from 64 switches at once, a bit for each.
  void measure_from(std::uint32_t first) {
    const std::uint32_t sources = std::min(64U, routers() - first);
    std::vector<std::uint64_t> seen(routers(), 0);
    for (std::uint32_t s = 0; s < sources; ++s) { seen[first + s] = std::uint64_t{1} << s; }
    bool found = true;
    for (std::uint16_t steps = 1; found; ++steps) {
      found = false;
      const std::vector<std::uint64_t> before = seen;
      for (std::uint32_t router = 0; router < routers(); ++router) {
        for (const std::uint32_t next : neighbours_[router]) { seen[router] |= before[next]; }
        const std::uint64_t reached = seen[router] & ~before[router];
        for (std::uint32_t s = 0; s < sources && reached >> s != 0; ++s) {
          if ((reached >> s & 1U) != 0) { distances_[std::size_t{router} * routers() + first + s] = steps; }
        }
        found = found || reached != 0;
      }
    }
  }

  void walk_directly(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override {
    for (std::uint32_t at = from; at != to;) {
      const auto nearer = [&](std::uint32_t next) { return distance(next, to) < distance(at, to); };
      const std::vector<std::uint32_t>& others = neighbours_[at];
      const auto choices = static_cast<std::uint32_t>(std::count_if(others.begin(), others.end(), nearer));
      std::uint32_t skipped = draws.below(choices);
      std::uint32_t port = 0;
      while (!nearer(others[port]) || skipped-- > 0) { ++port; }
      path.take(at, port);
      at = others[port];
    }
  }

  JellyfishShape shape_;
  Neighbours neighbours_;
  std::vector<std::uint16_t> distances_;  // [from][to]
};

}  // namespace

struct JellyfishFabric : FabricKind {
  Switching switching;
  JellyfishShape shape;
  std::optional<std::uint32_t> hosts_per_switch;  ///< absent: as few as take all

  static Topology words() {
    return {
        .name = "jellyfish",
        .title = "Jellyfish",
        .summary = "Switches that are joined at random, each with as many cables",
        .explanation =
            "Switches with hosts on them, each joined to as many others at random: shorter paths and more bandwidth "
            "between halves than a fat tree of the same switches, and room for one more at any time. \"seed\" draws "
            "the cables; equal seeds give equal networks. Paths are computed from a table of distances, so that "
            "there are 4,096 switches at most.",
        .symbols = "N switches, r cables of each to others, T hosts per switch; N r even",
        .endpoints = "N T",
        .switches = "N, of radix T + r",
        .cables = "N r / 2",
        .diameter = "2 + that of the graph, about log N / log(r - 1)",
        .bisection =
            "about N r / 4, between the first half of the switches and the others; that of any half is above "
            "N (r/4 - sqrt(r ln 2) / 2) for large N",
        .source =
            "Singla, Hong, Popa, Godfrey, \"Jellyfish: networking data centers randomly\", NSDI 2012; Cerf, "
            "Cowan, Mullin, Stanton, \"A lower bound on the average shortest path length in regular graphs\", "
            "Networks, 1974; Bollobas, \"The isoperimetric number of random graphs\", European J. "
            "Combinatorics, 1988",
        .routings = {Routing::minimal, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    read_radix(fields, switching);
    fields.required("switches", shape.switches, "N", kPositionRange);
    fields.required("cables_per_switch", shape.cables, "Of one switch to others: r", kPortRange);
    fields.optional("hosts_per_switch", hosts_per_switch, "Hosts or NICs on one switch; default: as few as take all",
                    kPortRange);
    fields.optional("seed", shape.seed, "Which of all such networks: it draws the cables");
  }

  const Switching& switches() const override { return switching; }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(Wide{shape.switches} * hosts_per_switch.value_or(0), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const std::uint32_t hosts = hosts_per_switch.value_or(divided_up(site.population.attachments(), shape.switches));
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<Jellyfish>(shape),
                                           DirectSpec{hosts, site.radix, site.host_cable, site.cable, site.cable});
  }
};

template Topology topology_of<JellyfishFabric>();

}  // namespace athanor
