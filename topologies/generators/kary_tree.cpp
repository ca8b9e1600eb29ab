#include "topologies/generators/kary_tree.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

std::uint32_t kary_tree_hosts(std::uint32_t arity, std::uint32_t levels) {
  Wide hosts = 1;
  for (std::uint32_t level = 0; level < levels; ++level) {
    hosts *= arity;
    if (hosts <= Wide{1} << 31U) { continue; }
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("a {}-ary {}-tree has more than two thousand million hosts", arity, levels),
                                {},
                                "use a lesser arity or fewer levels"});
  }
  return static_cast<std::uint32_t>(hosts);
}

KaryTree::KaryTree(const Population& population, const KaryTreeSpec& spec) : population_(population), spec_(spec) {
  require(spec.arity > 1 && spec.levels > 0, "a {}-ary {}-tree", spec.arity, spec.levels);
  require(population.attachments() <= kary_tree_hosts(spec.arity, spec.levels), "{} attachments on a {}-ary {}-tree",
          population.attachments(), spec.arity, spec.levels);
  for (std::uint32_t d = 0; d <= spec.levels; ++d) { powers_.push_back(d == 0 ? 1 : powers_.back() * spec.arity); }
  width_ = powers_[spec.levels - 1];
}

std::uint64_t KaryTree::links() const {
  return 2 * (population_.attachments() + std::uint64_t{spec_.levels - 1} * width_ * spec_.arity);
}

VertexKind KaryTree::kind(std::uint32_t level) const {
  if (level == 0) { return VertexKind::leaf; }
  return top(level) && spec_.levels > 2 ? VertexKind::core : VertexKind::spine;
}

void KaryTree::add_vertices(FabricBuilder& builder) {
  for (std::uint32_t level = 0; level < spec_.levels; ++level) {
    const std::uint32_t numbered = kind(level) == VertexKind::spine ? (level - 1) * width_ : 0;
    for (std::uint32_t w = 0; w < width_; ++w) {
      const VertexId added = builder.add({kind(level), kNoNode, numbered + w});
      if (level == 0 && w == 0) { first_ = added.value; }
    }
  }
}

std::uint32_t KaryTree::with_digit(std::uint32_t number, std::uint32_t d, std::uint32_t value) const {
  return number - digit(number, d) * powers_[d] + value * powers_[d];
}

/// From the top down, so that a switch has its up-links before its links down. Link down number c of a switch of level
/// l + 1 leads to the one below whose digit l is c: the loop over w visits those in ascending order.
void KaryTree::add_links(FabricBuilder& builder) const {
  for (std::uint32_t level = spec_.levels - 1; level > 0; --level) {
    for (std::uint32_t w = 0; w < width_; ++w) {
      for (std::uint32_t up = 0; up < spec_.arity; ++up) {
        builder.connect(at(level - 1, w), at(level, with_digit(w, level - 1, up)), from_switch(spec_.cable));
      }
    }
  }
  for (std::uint32_t a = 0; a < population_.attachments(); ++a) {
    const CableSpec cable = host_cable(spec_.host_cable, population_, a);
    builder.connect(population_.attachment(a), at(0, a / spec_.arity), from_device(cable, population_.forwarding(a)),
                    from_switch(cable));
  }
}

void KaryTree::route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                     std::uint64_t flow, std::vector<LinkId>& path) const {
  require(choice.routing != Routing::dimension_order, "dimension order on a k-ary n-tree");
  const auto take = [&](VertexId v, std::uint32_t port) { path.push_back(LinkId{fabric.out(v).first + port}); };
  std::uint64_t hash = join_hash(join_hash(join_hash(choice.seed, from), to), flow);
  take(population_.attachment(from), population_.network_port(from));
  std::uint32_t w = from / spec_.arity;
  const std::uint32_t target = to / spec_.arity;
  std::uint32_t level = 0;
  for (; w / powers_[level] != target / powers_[level]; ++level) {
    hash = join_hash(hash, 1);
    const std::uint32_t up = choice.routing == Routing::d_mod_k
                                 ? digit(to, level)
                                 : static_cast<std::uint32_t>(scale_hash(hash, spec_.arity));
    take(at(level, w), up);
    w = with_digit(w, level, up);
  }
  for (; level > 0; --level) {
    const std::uint32_t down = digit(target, level - 1);
    take(at(level, w), up_links(level) + down);
    w = with_digit(w, level - 1, down);
  }
  take(at(0, w), up_links(0) + to % spec_.arity);
}

Division KaryTree::subtrees(std::string name, std::uint32_t height, std::uint32_t count) const {
  const std::uint64_t slots =
      std::min<std::uint64_t>(std::uint64_t{count} * powers_[height], population_.attachments());
  const std::uint32_t members = population_.members_within(static_cast<std::uint32_t>(slots));
  Division found{std::move(name), {population_.range(0, members)}, false};
  for (std::uint32_t level = 0; level < height; ++level) {
    found.inside.push_back({at(level, 0).value, count * powers_[height - 1]});
  }
  return found;
}

std::vector<Division> KaryTree::divisions() const {
  std::vector<Division> found;
  for (std::uint32_t height = 1; height < spec_.levels; ++height) {
    found.push_back(subtrees(fmt::format("subtree of {} hosts", powers_[height]), height, 1));
  }
  // The highest level whose subtrees are several in use is the one that halves.
  std::uint32_t height = spec_.levels - 1;
  while (height > 0 && population_.attachments() <= powers_[height]) { --height; }
  const std::uint32_t used = (population_.attachments() + powers_[height] - 1) / powers_[height];
  if (used < 2 || population_.members < 2) { return found; }
  const std::string_view what = height > 0 ? "subtrees" : population_.node ? "nodes" : "hosts";
  Division half = subtrees(fmt::format("half of the {}", what), height, used / 2);
  half.half = true;
  found.push_back(std::move(half));
  return found;
}

std::vector<TierSummary> KaryTree::tiers() const {
  std::vector<TierSummary> found;
  for (std::uint32_t level = 0; level < spec_.levels; ++level) {
    const CableSpec& below = level == 0 ? spec_.host_cable : spec_.cable;
    const Ratio ratio = top(level) ? Ratio{0, 1} : Ratio{below.rate.count(), spec_.cable.rate.count()};
    found.push_back({fmt::format("level {}", level), width_, ratio});
  }
  return found;
}

std::vector<std::string> KaryTree::warnings() const {
  const std::uint32_t places = powers_[spec_.levels];
  if (population_.attachments() == places) { return {}; }
  return {fmt::format("{} of the {} places of the {}-ary {}-tree are in use", population_.attachments(), places,
                      spec_.arity, spec_.levels)};
}

}  // namespace athanor
