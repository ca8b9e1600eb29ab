#pragma once

#include "models/execution/mapped_schedule.hpp"
#include "models/network/network_settings.hpp"

namespace athanor {

struct Cluster;

/// What a schedule amounts to on a cluster, from some of its agents and steps: all counts are of the whole of it.
struct ScheduleSample {
  double agents = 0;
  double lanes = 0;
  double connections = 0;
  double primitives = 0;
  double repeated = 0;  ///< of these, in the loops before the last of lanes that have several, which are alike
  double messages = 0;
  double packet_links = 0;   ///< packets that they are cut into, each as often as a link carries it
  double settling = 0;       ///< of packet_links what is simulated until each connection has settled
  double links_crossed = 0;  ///< by connections, each link as often as one crosses it
  double kinds = 0;          ///< lanes that differ in their place in a node, their program or their length
  double steps = 0;          ///< of the longest loop
  double sending = 0;   ///< seconds that the busiest lane sends, one message after the other, each at its path's rate
  double latency = 0;   ///< seconds, of the longest path
  bool uneven = false;  ///< nodes differ in how many connections begin in their lanes, or in how far these reach, as
                        ///< those of trees do
  bool waits = false;   ///< primitives that wait for other lanes, or begin on parts of messages: their order matters
  bool filled = false;  ///< connections that begin in one node fill a link together
  double crowding = 1;  ///< of these links: what such connections would take of one, each alone, over what it has
};

/// Deterministic. Looks at some thousand primitives at most. Throws SimulationError("no-route").
ScheduleSample sample(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                      const CostModel& costs, Bytes packet);

}  // namespace athanor
