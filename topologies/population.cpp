#include "topologies/population.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// The last kind that begins at or before a number, by one of its firsts.
const NodeKind& kind_at(const std::vector<NodeKind>& kinds, std::uint32_t number, std::uint32_t NodeKind::*first) {
  std::size_t k = kinds.size() - 1;
  while (kinds[k].*first > number) { --k; }
  return kinds[k];
}

std::uint32_t first_vertex_of(const Population& population, std::uint32_t member) {
  if (!population.mixed()) { return member * population.vertices_each(); }
  const NodeKind& kind = kind_at(population.kinds, member, &NodeKind::first_member);
  return kind.first_vertex + (member - kind.first_member) * kind.node->vertices();
}

std::uint32_t ceil_of(std::uint32_t a, std::uint32_t b) { return a / b + (a % b != 0 ? 1 : 0); }

void check_numbers(const std::vector<NodeKind>& kinds) {
  Wide vertices = 0;
  for (const NodeKind& kind : kinds) { vertices += Wide{kind.members} * kind.node->vertices(); }
  if (vertices < Wide{kNoNode}) { return; }
  throw ScenarioError(Problem{"too-large", "the nodes have more devices than 32 bits count", {}, "describe fewer"});
}

}  // namespace

Population nodes(std::uint32_t count, const NodeSpec& spec) {
  return {count, std::make_shared<const NodeTemplate>(spec), VertexKind::gpu};
}

Population hosts(std::uint32_t count, VertexKind kind) { return {count, nullptr, kind}; }

std::uint32_t Population::vertices() const {
  if (!mixed()) { return members * vertices_each(); }
  return kinds.back().first_vertex + kinds.back().members * kinds.back().node->vertices();
}

std::uint32_t Population::attachments() const {
  if (!mixed()) { return members * attachments_each(); }
  return kinds.back().first_attachment + kinds.back().members * kinds.back().node->nics();
}

std::uint32_t Population::endpoints() const {
  if (!mixed()) { return members * endpoints_each(); }
  return kinds.back().first_endpoint + kinds.back().members * kinds.back().node->endpoints();
}

VertexId Population::endpoint(std::uint32_t e) const {
  if (!mixed()) { return VertexId{e / endpoints_each() * vertices_each() + e % endpoints_each()}; }
  const NodeKind& of = kind_at(kinds, e, &NodeKind::first_endpoint);
  const std::uint32_t own = e - of.first_endpoint;
  return VertexId{of.first_vertex + own / of.node->endpoints() * of.node->vertices() + own % of.node->endpoints()};
}

VertexId Population::mixed_attachment(std::uint32_t a) const {
  const NodeKind& of = kind_at(kinds, a, &NodeKind::first_attachment);
  const std::uint32_t own = a - of.first_attachment;
  const std::uint32_t nics = of.node->nics();
  return VertexId{of.first_vertex + own / nics * of.node->vertices() + of.node->nic_vertex(own % nics)};
}

std::uint32_t Population::mixed_network_port(std::uint32_t a) const {
  const NodeKind& of = kind_at(kinds, a, &NodeKind::first_attachment);
  return of.node->ports(of.node->nic_vertex((a - of.first_attachment) % of.node->nics()));
}

Time Population::forwarding(std::uint32_t a) const {
  if (!node) { return Time::zero(); }
  if (!mixed()) { return node->nic(a % node->nics()).forwarding; }
  const NodeKind& of = kind_at(kinds, a, &NodeKind::first_attachment);
  return of.node->nic((a - of.first_attachment) % of.node->nics()).forwarding;
}

Population::Home Population::mixed_home(VertexId v) const {
  const NodeKind& of = kind_at(kinds, v.value, &NodeKind::first_vertex);
  const std::uint32_t own = (v.value - of.first_vertex) / of.node->vertices();
  return {of.node.get(), of.first_vertex + own * of.node->vertices(), of.first_attachment + own * of.node->nics(),
          static_cast<std::uint32_t>(&of - kinds.data())};
}

VertexRange Population::range(std::uint32_t first, std::uint32_t last) const {
  const std::uint32_t begin = first_vertex_of(*this, first);
  return {begin, last > first ? first_vertex_of(*this, last) - begin : 0};
}

std::uint32_t Population::members_within(std::uint32_t attachments) const {
  if (!mixed()) { return std::min(attachments / attachments_each(), members); }
  const NodeKind& of = kind_at(kinds, attachments, &NodeKind::first_attachment);
  return std::min(of.first_member + (attachments - of.first_attachment) / of.node->nics(), members);
}

std::uint32_t Population::members_begun(std::uint32_t attachments) const {
  if (!mixed()) { return std::min(ceil_of(attachments, attachments_each()), members); }
  const NodeKind& of = kind_at(kinds, attachments, &NodeKind::first_attachment);
  return std::min(of.first_member + ceil_of(attachments - of.first_attachment, of.node->nics()), members);
}

Population mixture(std::vector<NodeKind> kinds) {
  require(!kinds.empty(), "a mixture of nothing");
  if (kinds.size() == 1) { return {kinds.front().members, kinds.front().node, VertexKind::gpu}; }
  check_numbers(kinds);
  NodeKind next;
  for (NodeKind& kind : kinds) {
    require(kind.members > 0 && kind.node && kind.node->nics() > 0, "a kind of {} nodes", kind.members);
    kind.first_member = next.first_member;
    kind.first_vertex = next.first_vertex;
    kind.first_attachment = next.first_attachment;
    kind.first_endpoint = next.first_endpoint;
    next.first_member += kind.members;
    next.first_vertex += kind.members * kind.node->vertices();
    next.first_attachment += kind.members * kind.node->nics();
    next.first_endpoint += kind.members * kind.node->endpoints();
  }
  return {.members = next.first_member, .node = kinds.front().node, .kind = VertexKind::gpu, .kinds = std::move(kinds)};
}

void add_vertices(const Population& population, FabricBuilder& builder) {
  for (std::uint32_t m = 0; m < population.members; ++m) {
    const VertexId expected{first_vertex_of(population, m)};
    const NodeTemplate* node = population.home(expected).node;
    const VertexId first =
        node != nullptr ? node->add_vertices(builder, m) : builder.add({population.kind, kNoNode, m});
    require(first == expected, "member {} begins at vertex {}", m, first.value);
  }
}

void add_links(const Population& population, FabricBuilder& builder) {
  if (!population.node) { return; }
  for (std::uint32_t m = 0; m < population.members; ++m) {
    const VertexId first{first_vertex_of(population, m)};
    population.home(first).node->add_links(builder, first);
  }
}

}  // namespace athanor
