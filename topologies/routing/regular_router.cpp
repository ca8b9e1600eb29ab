#include "topologies/routing/regular_router.hpp"

#include <fmt/format.h>

#include "sim/error.hpp"

namespace athanor {

RegularRouter::RegularRouter(const Fabric& fabric, const Population& population,
                             std::shared_ptr<const NetworkStructure> network, const RoutingChoice& choice)
    : fabric_(fabric),
      population_(population),
      network_(std::move(network)),
      choice_(choice),
      general_(fabric, choice.seed) {}

void RegularRouter::route_inside(const RouteRequest& request, VertexId from, VertexId to,
                                 std::vector<LinkId>& path) const {
  const NodeTemplate& node = *population_.node;
  const std::uint32_t first = from.value / node.vertices() * node.vertices();
  const std::uint32_t target = to.value - first;
  for (std::uint32_t at = from.value - first; at != target;) {
    const std::uint16_t port = node.next_port(at, target);
    if (port == NodeTemplate::kNoPort) { throw_no_route(fabric_, request.from, request.to); }
    path.push_back(LinkId{fabric_.out(VertexId{first + at}).first + port});
    at = node.neighbour(at, port);
  }
}

std::uint32_t RegularRouter::attachment_of(const RouteRequest& request, VertexId end) const {
  if (!population_.node) { return end.value; }
  const NodeTemplate& node = *population_.node;
  const std::uint32_t local = end.value % node.vertices();
  const std::uint32_t first = end.value / node.vertices() * node.nics();
  if (node.is_nic(local)) { return first + local - node.nic_vertex(0); }
  if (!request.rail) { return first + node.nearest_nic(local); }
  if (*request.rail < node.nics()) { return first + *request.rail; }
  throw SimulationError("no-route",
                        fmt::format("no route from {} to {} on rail {}: a node has {} NICs", fabric_.name(request.from),
                                    fabric_.name(request.to), *request.rail, node.nics()));
}

void RegularRouter::route(const RouteRequest& request, std::vector<LinkId>& path) const {
  const std::uint32_t each = population_.vertices_each();
  if (request.from == request.to) { return; }
  if (request.from.value >= population_.vertices() || request.to.value >= population_.vertices()) {
    general_.route(request, path);
    return;
  }
  if (population_.node && request.from.value / each == request.to.value / each) {
    route_inside(request, request.from, request.to, path);
    return;
  }
  if (!network_ || population_.attachments_each() == 0) { throw_no_route(fabric_, request.from, request.to); }
  const std::uint32_t source = attachment_of(request, request.from);
  const std::uint32_t target = attachment_of(request, request.to);
  if (population_.node) { route_inside(request, request.from, population_.attachment(source), path); }
  network_->route(fabric_, choice_, source, target, request.flow, path);
  if (population_.node) { route_inside(request, population_.attachment(target), request.to, path); }
}

}  // namespace athanor
