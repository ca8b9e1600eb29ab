#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

class AggregationTree;

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  all_to_all,
  all_to_all_v,  ///< blocks of any sizes
  gather,
  scatter,
  barrier,  ///< no rank ends before all have begun
  send_receive,
};

/// "all_reduce", ...: the name in scenarios, results and on the command line.
std::string_view name(CollectiveKind kind);
/// The inverse of name().
std::optional<CollectiveKind> collective_kind(std::string_view name);
/// All kinds, in the order of their declaration.
std::span<const CollectiveKind> collective_kinds();

/// Whether contributions of the ranks are combined.
bool reduces(CollectiveKind kind);
/// Whether one rank plays another part than the rest: the root, or the sender of send_receive.
bool has_root(CollectiveKind kind);

/// What is asked of a collective, apart from how.
///
/// `count`: elements of the largest buffer of one rank, as nccl-tests sizes it: the vector for all-reduce, broadcast
/// and reduce; the whole (all ranks' parts together) for all-gather, reduce-scatter, gather, scatter and all-to-all;
/// the message for send/receive; nothing for a barrier; sizes->largest() for all-to-all-v. Where ranks divide it
/// unevenly, rank r's part is elements [r * ceil(count / ranks), ...) clipped; in an all-to-all that part of every
/// input goes to rank r, whose output holds them in the order of their senders.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  Elements count;
  std::uint32_t root = 0;  ///< of broadcast, reduce, gather and scatter; the sender of send/receive, to root + 1
  bool in_place = false;   ///< input and output share memory; not for all-to-all(-v), barrier and send/receive
  std::shared_ptr<const AllToAllVSizes> sizes = nullptr;  ///< of all-to-all-v, and of nothing else
};

/// Sides of a grid of ranks. Rank r is at the coordinates of r in mixed radix, the last side varying fastest, as in a
/// torus of the cluster. Zeros stand behind the sides; all zero: not given.
using Dimensions = std::array<std::uint32_t, 6>;

/// Paths through a group of ranks, such as a node: each lists the places 0 .. group-1 in the order in which they are
/// visited. Channel c goes even[c % even.size()] through groups of even number and odd[c % odd.size()] through others.
/// Requires as many of one as of the other, each a permutation of the places.
struct ChannelOrders {
  std::vector<std::vector<std::uint32_t>> even;
  std::vector<std::vector<std::uint32_t>> odd;
  bool operator==(const ChannelOrders&) const = default;
};

/// Into how many parts a message is cut by its size: as many as have `small` elements, at most `least`; twice as many,
/// and so on, while a part would have more than `large`.
struct MessageParts {
  Elements small{1};
  Elements large = Elements::max();
  std::uint32_t least = 1;
  bool operator==(const MessageParts&) const = default;
};

/// How the payload is cut. An algorithm pipelines: channels run side by side, each loops over its part, and each
/// loop moves one chunk per step. Rings send a chunk in slices, one by one, so that a slice travels on while the next
/// arrives; the other algorithms, whose messages do not depend on each other, take a slice as their chunk.
///
/// Rings visit the ranks in ascending order unless `rotation` is set: then channel c leaves each group from its rank
/// c * rotation and enters the next group at the rank after that. With 8 ranks and 8 NICs per node and rotation 1,
/// eight channels use eight NICs. Where there are `orders`, rings and chains in groups follow these, whatever the
/// rotation.
struct Layout {
  std::uint32_t channels = 1;
  Elements chunk = Elements::max();  ///< most elements of one chunk; max: the whole in one loop
  std::uint32_t slices = 1;          ///< messages per chunk
  Elements grain{1};                 ///< chunks and slices are multiples of this, but for the last
  std::uint32_t rotation = 0;        ///< ranks by which the way out of a group moves per channel; 0: ascending order
  std::uint32_t group = 0;           ///< ranks per node, for rotated orders and hierarchies; divides the ranks; 0: all
  /// In place of rotation: the paths through a group that a library found. None: as rotation says.
  std::shared_ptr<const ChannelOrders> orders = nullptr;
  Dimensions dimensions{};  ///< for torus and mesh; not given: the sides of the least sum that an algorithm has
  std::uint32_t rings = 0;  ///< for multi_ring: directed rings at most; 0: eight
  /// Of algorithms whose engines are switches: who adds up what in the network. aggregation_tree: over all ranks;
  /// channel c takes tree c % trees.size(). Those with heads in every node: tree h over head h of each node, in order.
  /// None: as patterns/aggregation.hpp says.
  std::vector<std::shared_ptr<const AggregationTree>> trees = {};
  /// Of those with heads in every node: the places of a group that are heads, ascending; none: all of them. Chains that
  /// have `orders` end at the first place of these, which is a head.
  std::vector<std::uint32_t> heads = {};
  /// Of engines in switches: chunks of a channel that a rank has sent and whose result it has not got, at most; it
  /// holds the next one back until then (engines have memory for so many). 0: as many as slots allow.
  std::uint32_t outstanding = 0;
  /// Of rings: fewest elements of a slice, if its chunk has as many; the slices after it get what is left, or nothing.
  Elements least_slice{1};
  /// Of chains in groups that trees join: the places of a chain at which the first and the second child of its group
  /// in a tree attach; the last place, where a chain is shorter.
  std::array<std::uint32_t, 2> tree_heads{};
  /// Of rounds of point-to-point messages: channels over which each message is spread, at most all; and messages of
  /// each direction that a channel moves side by side, before it begins with the next as many.
  std::uint32_t parts = 1;
  std::uint32_t peers_at_once = 8;
  /// The same where sizes differ (all-to-all-v): at most `parts` still.
  std::optional<MessageParts> parts_by_size = {};
  /// Of parallel aggregated trees: messages that follow each other over one distance before a rank waits for as many.
  std::uint32_t messages_per_step = 1;
};

}  // namespace athanor
