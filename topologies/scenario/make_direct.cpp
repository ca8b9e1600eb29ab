#include "topologies/scenario/make_direct.hpp"

#include <algorithm>

#include "sim/error.hpp"
#include "topologies/generators/direct/slim_fly.hpp"

namespace athanor {

namespace {

using Kind = DirectText::Kind;

constexpr Wide kMany = Wide{1} << 40U;  // more members than any fabric takes

Wide product(const std::vector<std::uint32_t>& sizes) {
  Wide result = 1;
  for (const std::uint32_t size : sizes) { result = std::min(result * size, kMany); }
  return result;
}

std::uint32_t ceil_of(Wide dividend, Wide divisor) {
  return static_cast<std::uint32_t>(std::min((dividend + divisor - 1) / divisor, kMany >> 10U));
}

/// Switches with hosts on them, of each group, of a dragonfly or dragonfly+.
std::uint32_t hosting_per_group(const DirectText& text) {
  return text.switches_per_group.value_or(2 * text.hosts_per_switch.value_or(1));
}

std::uint32_t hosts_per_switch(const DirectText& text) {
  return text.hosts_per_switch.value_or(text.kind == Kind::dragonfly_plus ? text.switches_per_group.value_or(1) : 1);
}

std::uint32_t spines_per_group(const DirectText& text) {
  return text.spines_per_group.value_or(hosting_per_group(text));
}

/// Balanced where it is not said: a dragonfly as many as hosts, a dragonfly+ as many as links down.
std::uint32_t global_cables(const DirectText& text) {
  return text.global_cables.value_or(text.kind == Kind::dragonfly ? hosts_per_switch(text) : hosting_per_group(text));
}

/// As many groups as can all be joined.
Wide most_groups(const DirectText& text) {
  const std::uint32_t gates = text.kind == Kind::dragonfly ? hosting_per_group(text) : spines_per_group(text);
  return Wide{gates} * global_cables(text) + 1;
}

/// As said; else as few as take all.
std::uint32_t groups(const DirectText& text, const Population& population) {
  if (text.groups) { return *text.groups; }
  const Wide each = Wide{hosting_per_group(text)} * hosts_per_switch(text);
  return ceil_of(population.attachments(), each);
}

DragonflyShape dragonfly_shape(const DirectText& text, const Population& population) {
  return {groups(text, population), hosting_per_group(text), global_cables(text), text.arrangement};
}

DragonflyPlusShape dragonfly_plus_shape(const DirectText& text, const Population& population) {
  return {groups(text, population), hosting_per_group(text), spines_per_group(text), global_cables(text),
          text.arrangement};
}

HyperXShape hyperx_shape(const DirectText& text) {
  HyperXShape shape{text.dimensions, text.cables};
  if (shape.cables.size() == 1) { shape.cables.resize(shape.dimensions.size(), shape.cables[0]); }
  return shape;
}

GeneratedNetwork make_full_mesh(const DirectText& text, const Population& population, DirectSpec spec,
                                const DirectCables& cables) {
  const std::uint32_t parallel = text.cables.empty() ? 1 : text.cables[0];
  std::uint32_t routers = population.members;
  if (!members_are_routers(text)) {
    routers = text.switches ? *text.switches : ceil_of(population.attachments(), *text.hosts_per_switch);
    spec.hosts_per_router = text.hosts_per_switch.value_or(ceil_of(population.attachments(), routers));
  } else {
    spec.hosts_per_router.reset();
    spec.host_cable = cables.nic;
    spec.radix.reset();
  }
  return full_mesh_network(population, routers, parallel, spec);
}

}  // namespace

bool members_are_routers(const DirectText& text) {
  const bool bare_mesh = text.kind == Kind::full_mesh && !text.switches && !text.hosts_per_switch;
  return bare_mesh || text.kind == Kind::torus || text.kind == Kind::mesh;
}

Wide implied_members(const DirectText& text, std::uint32_t nics) {
  const auto members = [&](Wide attachments) { return attachments / std::max(nics, 1U); };
  switch (text.kind) {
    case Kind::mesh:
    case Kind::torus: return product(text.dimensions);
    case Kind::full_mesh: return members(Wide{text.switches.value_or(0)} * text.hosts_per_switch.value_or(0));
    case Kind::hyperx: return members(product(text.dimensions) * text.hosts_per_switch.value_or(0));
    case Kind::dragonfly:
    case Kind::dragonfly_plus: {
      const Wide all = text.groups ? Wide{*text.groups} : most_groups(text);
      return members(std::min(all * hosting_per_group(text), kMany) * hosts_per_switch(text));
    }
    case Kind::slim_fly:
      check_slim_fly(text.q);
      return members(Wide{2} * text.q * text.q * text.hosts_per_switch.value_or(balanced_hosts_per_router(text.q)));
  }
  return 0;
}

GeneratedNetwork make_direct(const DirectText& text, const Population& population, const DirectCables& cables) {
  DirectSpec spec{hosts_per_switch(text), cables.radix, cables.host, cables.local, cables.global};
  switch (text.kind) {
    case Kind::mesh: return mesh_network(population, {text.dimensions, cables.local, cables.nic, text.wrap});
    case Kind::torus: {
      const auto twists = text.tpu_v4_twists ? tpu_v4_twists(text.dimensions) : text.twists;
      return torus_network(population, {text.dimensions, cables.local, cables.nic, twists});
    }
    case Kind::full_mesh: return make_full_mesh(text, population, spec, cables);
    case Kind::hyperx:
      if (!text.hosts_per_switch) {
        spec.hosts_per_router = ceil_of(population.attachments(), std::max<Wide>(product(text.dimensions), 1));
      }
      return hyperx_network(population, hyperx_shape(text), spec);
    case Kind::dragonfly: return dragonfly_network(population, dragonfly_shape(text, population), spec);
    case Kind::dragonfly_plus: return dragonfly_plus_network(population, dragonfly_plus_shape(text, population), spec);
    case Kind::slim_fly:
      check_slim_fly(text.q);
      spec.hosts_per_router = text.hosts_per_switch.value_or(balanced_hosts_per_router(text.q));
      return slim_fly_network(population, text.q, spec);
  }
  return {};
}

}  // namespace athanor
