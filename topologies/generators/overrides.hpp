#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/field_value.hpp"
#include "sim/ratio.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

struct Cluster;

/// All links of one kind, faster or nearer than they are.
struct LinkScaling {
  LinkKind kind = LinkKind::network;
  Ratio rate{1, 1};     ///< times the line rate and the usable rate; above 0
  Ratio latency{1, 1};  ///< times the latency; 0: none
};

/// Changes the links of a cluster that has not been routed on yet. Nodes that were alike stay so.
void scale_links(Cluster& cluster, const std::vector<LinkScaling>& scalings);

struct Cluster;

/// What is different about some links of a cluster: slower, farther, or down. What is absent stays as it is.
struct LinkOverride {
  std::string from;  ///< name of a device as reports show it; '*' stands for any characters, '?' for one
  std::string to;
  bool both_ways = true;
  std::optional<std::uint32_t> cables = {};  ///< of the parallel ones between two devices only so many, in port order
  std::optional<Bandwidth> rate = {};        ///< line rate; the usable rate keeps its share of it
  std::optional<Bandwidth> usable = {};      ///< payload rate
  std::optional<Time> latency = {};
  bool down = false;
  SourceLocation place = {};
};

/// Changes the links of a cluster that has not been routed on yet, override after override; then its nodes are alike
/// no longer, and its description and warnings say what changed. Reports to `problems`:
///  - "no-such-link": no link matches an override, with the nearest names or with what the devices are linked to;
///  - "out-of-range": a usable rate above the line rate;
///  - "cut-off": endpoints that others do not reach, or that do not reach others, by name;
///  - "lost-route": pairs of endpoints whose only path, by the cluster's routing, crosses a link that is down. Of more
///    than four million pairs a sample is looked at; the router itself refuses the others when they are asked for.
void apply_overrides(Cluster& cluster, const std::vector<LinkOverride>& overrides, Problems& problems);

}  // namespace athanor
