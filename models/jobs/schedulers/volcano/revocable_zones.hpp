#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/node_list.hpp"
#include "sim/config/fields.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// Nodes that preemptible jobs alone may use, in a window of each day (tdm.revocable-zone.NAME: FROM-TO).
struct RevocableZone {
  std::string name;
  std::uint32_t first_node = 0;
  std::uint32_t nodes = 1;  ///< from that one on
  std::string from;         ///< "22:00"
  std::string to;           ///< likewise; not later than `from`: midnight, as Volcano reads it
};

/// Arguments of the plugin tdm.
struct RevocableZoneRules {
  std::vector<RevocableZone> zones;
  WallTime evict_period{60'000'000};  ///< so often a job loses a task of nodes whose window has ended
  std::string begins_at = "00:00";    ///< the time of day at the beginning of the workload
};

void visit(Fields& fields, RevocableZoneRules& rules);

/// What is wrong with zones on so many nodes; "": nothing.
std::string zones_mistake(const RevocableZoneRules& rules, std::size_t nodes);

/// When which nodes are to be had by whom. Windows are those of Volcano: from the minute that begins one to the second
/// that ends it, of one day, so that a window over midnight ends there.
class RevocableZones {
 public:
  /// Without zones: all nodes are everybody's.
  RevocableZones() = default;
  /// Requires rules without mistakes.
  RevocableZones(const RevocableZoneRules& rules, std::size_t nodes);

  bool is_empty() const { return windows_.empty(); }
  bool is_revocable(NodeId node) const { return !is_empty() && zones_[node] != kNone; }
  /// The node is in a zone, and its window is open.
  bool is_open(NodeId node, WallTime now) const;
  bool admits(NodeId node, bool preemptible, WallTime now) const {
    return !is_revocable(node) || (preemptible && is_open(node, now));
  }
  /// When the next window opens or has ended, after now. Requires zones.
  WallTime next_change(WallTime now) const;
  /// How many such changes a day has.
  std::size_t changes_a_day() const { return 2 * windows_.size(); }

 private:
  static constexpr std::uint16_t kNone = UINT16_MAX;
  /// Of a day: its beginning, and the first instant after it.
  struct Window {
    WallTime opens;
    WallTime ended;
  };

  WallTime time_of_day(WallTime now) const;

  std::vector<Window> windows_;            ///< of zones
  IdVector<NodeId, std::uint16_t> zones_;  ///< of nodes
  WallTime begins_at_;
};

}  // namespace athanor
