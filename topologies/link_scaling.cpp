#include "topologies/link_scaling.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "topologies/cluster.hpp"

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

}  // namespace

void scale_links(Cluster& cluster, const std::vector<LinkScaling>& scalings) {
  for (const LinkScaling& scaling : scalings) {
    require(scaling.rate.numerator > 0, "links of no rate");
    for (LinkId id{0}; id.value < cluster.fabric->links(); ++id.value) { scale(*cluster.fabric, id, scaling); }
  }
}

}  // namespace athanor
