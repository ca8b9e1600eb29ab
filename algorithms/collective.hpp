#pragma once

#include <cstdint>
#include <string_view>

#include "algorithms/schedule.hpp"

namespace athanor {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  all_to_all,
  send_receive,
};

/// "all_reduce", ...: the name in scenarios, results and on the command line.
std::string_view name(CollectiveKind kind);

/// What is asked of a collective, apart from how.
///
/// `count`: elements of the largest buffer of one rank, as nccl-tests sizes it: the vector for all-reduce, broadcast
/// and reduce; the whole (all ranks' parts together) for all-gather, reduce-scatter and all-to-all; the message for
/// send/receive. Where ranks divide it unevenly, rank r's part is elements [r * ceil(count / ranks), ...) clipped.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  Elements count;
  std::uint32_t root = 0;  ///< of broadcast and reduce; the sender of send/receive, which goes to root + 1
};

/// How the payload is cut. An algorithm pipelines: channels run side by side, each loops over its part, and each
/// loop moves one chunk per step, cut into slices that are sent one by one.
struct Layout {
  std::uint32_t channels = 1;
  Elements chunk = Elements::max();  ///< most elements of one chunk; max: the whole in one loop
  std::uint32_t slices = 1;          ///< messages per chunk
  Elements grain{1};                 ///< chunks and slices are multiples of this, but for the last
  std::uint32_t rotation = 0;  ///< channel c uses the ring order rotated by c * rotation inside each group of `group`
  std::uint32_t group = 0;     ///< ranks per node for rotated orders; 0: all ranks are one group
};

}  // namespace athanor
