#pragma once

#include <string>

namespace athanor {

struct Cluster;

/// The fabric as GraphML, for networkx, igraph, Gephi, yEd: a directed graph whose nodes have "name", "kind", "node"
/// (of the cluster; -1 for none) and "index", and whose edges have "kind", "rate_bytes_per_s", "usable_bytes_per_s" and
/// "latency_ps".
std::string to_graphml(const Cluster& cluster);

/// Routes between all endpoints are written for so many at most.
constexpr std::size_t kMostSimgridHosts = 256;

/// The fabric as a platform of SimGrid (XML, version 4.1): endpoints are hosts, each direction of a cable is a link
/// with its payload rate and latency, and every ordered pair has its route as the cluster's router gives it for flow 0.
/// Throws ScenarioError ("too-large") beyond kMostSimgridHosts endpoints.
std::string to_simgrid(const Cluster& cluster);

/// A fat tree of hosts as a .topo file of htsim: line rates and latencies, so that every route takes as long as here.
/// What htsim cannot say is refused with ScenarioError ("no-htsim-form"): nodes with an inside, one or more than three
/// tiers, leaves or pods that are partly empty or unequal, hosts that are not on their leaves in order, rates that are
/// no whole Gb/s, latencies that are no whole nanoseconds, oversubscription by no whole number.
std::string to_htsim(const Cluster& cluster);

}  // namespace athanor
