#include "models/training/step/split_groups.hpp"

#include "sim/check.hpp"

namespace athanor {

EndpointGroups runs_of(const EndpointGroups& groups, std::uint32_t ranks) {
  EndpointGroups runs;
  for (const std::vector<std::uint32_t>& group : groups) {
    require(group.size() % ranks == 0, "{} data-parallel ranks in runs of {}", group.size(), ranks);
    for (auto first = group.begin(); first != group.end(); first += ranks) { runs.emplace_back(first, first + ranks); }
  }
  return runs;
}

EndpointGroups same_places_of(const EndpointGroups& groups, std::uint32_t ranks) {
  EndpointGroups places;
  for (const std::vector<std::uint32_t>& group : groups) {
    require(group.size() % ranks == 0, "{} data-parallel ranks in runs of {}", group.size(), ranks);
    for (std::uint32_t place = 0; place < ranks; ++place) {
      std::vector<std::uint32_t>& same = places.emplace_back();
      for (std::size_t rank = place; rank < group.size(); rank += ranks) { same.push_back(group[rank]); }
    }
  }
  return places;
}

}  // namespace athanor
