#pragma once

#include "models/network/network.hpp"

namespace athanor {

/// Requires that a graph's uses exist, that rates and caps are above zero and that latencies and grains are not below.
void check(const FlowGraph& graph);

/// What a connection reaches where nothing else moves, not even other members of its class: the least of its cap and
/// the rates of its links. Bandwidth::max(): nothing limits it.
Bandwidth rate_alone(const FlowGraph& graph, const FlowGraph::Connection& connection);

/// Time to inject a message at a rate; none where the rate is without limit (Bandwidth::max()).
Time injection_time(Bytes size, Bandwidth rate);

}  // namespace athanor
