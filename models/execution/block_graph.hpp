#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/block_layout.hpp"
#include "models/execution/layout_parts.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/refinement.hpp"

namespace athanor {

/// What all blocks of a shape are inside: the lanes of one of them, its connections and the links of its node. Of a
/// connection that leads outward or comes from there it has the end and the links that are in the block.
struct BlockGraph {
  MappedSchedule graph;                   ///< of lanes in the order of BlockLanes
  std::vector<ConnectionId> outward;      ///< by connection of BlockLayout::outward
  std::vector<ConnectionId> inward;       ///< those that come from outside
  std::vector<std::uint32_t> links;       ///< by link of the graph: its number in the block
  std::vector<std::uint32_t> link_of;     ///< and back; kNoLink: none crosses it
  std::vector<std::uint32_t> out_number;  ///< by connection of the graph that leads outward: which it is

  static constexpr std::uint32_t kNoLink = UINT32_MAX;
};

/// That of the first block of a shape. Borrows nothing.
BlockGraph block_graph(BlockLayout& layout, std::uint32_t shape, const Schedule& schedule, LikePorts& like,
                       bool in_calls);

}  // namespace athanor
