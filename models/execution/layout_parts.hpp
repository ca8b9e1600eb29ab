#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "topologies/fabric/router.hpp"

namespace athanor {

/// The number of a cost among those that are known, where it is added if it is new.
template <class Cost>
std::uint32_t intern(std::vector<Cost>& known, const Cost& cost) {
  const auto found = std::find(known.rbegin(), known.rend(), cost);
  if (found != known.rend()) { return static_cast<std::uint32_t>(known.rend() - found - 1); }
  known.push_back(cost);
  return static_cast<std::uint32_t>(known.size() - 1);
}

/// Which sides of a lane have ports that are all alike, by program: that is found in its first and last loop.
class LikePorts {
 public:
  /// Borrows it.
  explicit LikePorts(const Schedule& schedule) : schedule_(schedule) {}

  void find(MappedSchedule::Lane& lane, ProgramId program);

 private:
  struct Sides {
    bool ins = true;
    bool outs = true;
  };
  Sides look(const MappedSchedule::Lane& lane) const;

  const Schedule& schedule_;
  std::map<ProgramId, Sides> known_;
};

/// How often the members of a class of connections cross slack links, by the class of these. Mostly few.
using LinkCrossings = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

inline void count_crossing(LinkCrossings& crossings, std::uint32_t link, std::uint64_t times) {
  const auto known =
      std::find_if(crossings.begin(), crossings.end(), [link](const auto& each) { return each.first == link; });
  if (known == crossings.end()) {
    crossings.emplace_back(link, times);
  } else {
    known->second += times;
  }
}

/// From where to where the connection of an out-port leads, and by which NICs.
RouteRequest route_request(const Schedule& schedule, const Placement& placement, AgentId from, LaneId lane, PortId port,
                           AgentId to);

}  // namespace athanor
