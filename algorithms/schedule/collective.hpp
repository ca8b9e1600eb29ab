#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "sim/units.hpp"

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
  bool operator==(const Collective&) const = default;
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

/// A value that several share and nobody changes, or none. Equal where the values are.
template <class T>
class Shared : public std::shared_ptr<const T> {
 public:
  Shared() = default;
  template <class U>
  Shared(std::shared_ptr<U> value)
      : std::shared_ptr<const T>(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  friend bool operator==(const Shared& a, const Shared& b) { return a.get() == b.get() || (a && b && *a == *b); }
};

/// Torus, mesh, Swing and multi_ring: the sides of the grid.
struct GridShape {
  Dimensions dimensions{};  ///< not given: the sides of the least sum that an algorithm has
  std::uint32_t rings = 0;  ///< for multi_ring: directed rings at most; 0: eight
  bool operator==(const GridShape&) const = default;
};

/// Chains in groups that trees join.
struct ChainTreeShape {
  /// The places of a chain at which the first and the second child of its group in a tree attach; the last place, where
  /// a chain is shorter.
  std::array<std::uint32_t, 2> heads{};
  bool operator==(const ChainTreeShape&) const = default;
};

/// Algorithms with engines in switches or with heads in every node, that is ranks which speak with other nodes.
struct EngineTreeShape {
  /// Who adds up what in the network. aggregation_tree: over all ranks; channel c takes tree c % trees.size(). Those
  /// with heads: tree h over head h of each node, in order. None: as patterns/aggregation_forest.hpp says.
  std::vector<Shared<AggregationTree>> trees = {};
  /// The places of a group that are heads, ascending; none: all of them. Chains that have orders end at the first place
  /// of these, which is a head.
  std::vector<std::uint32_t> heads = {};
  /// Chunks of a channel that a rank has sent and whose result it has not got, at most; it holds the next one back
  /// until then (engines have memory for so many). 0: as many as slots allow.
  std::uint32_t outstanding = 0;
  bool operator==(const EngineTreeShape&) const = default;
};

/// Rounds of point-to-point messages.
struct PeerRoundShape {
  std::uint32_t parts = 1;          ///< channels over which each message is spread, at most all
  std::uint32_t peers_at_once = 8;  ///< of each direction that a channel serves, before it begins with the next as many
  std::optional<MessageParts> parts_by_size = {};  ///< where sizes differ (all-to-all-v): at most `parts` still
  bool operator==(const PeerRoundShape&) const = default;
};

/// Parallel aggregated trees.
struct AggregatedTreeShape {
  std::uint32_t messages_per_step = 1;  ///< that follow each other over one distance before a rank waits for as many
  bool operator==(const AggregatedTreeShape&) const = default;
};

/// What only some algorithms are laid out by; others take no notice of it. monostate: each as it is by default.
/// What copies and destroys it stands in collective.cpp: each file that knows a layout would compile it.
struct LayoutShape
    : std::variant<std::monostate, GridShape, ChainTreeShape, EngineTreeShape, PeerRoundShape, AggregatedTreeShape> {
  using variant::variant;
  LayoutShape();
  LayoutShape(const LayoutShape& other);
  LayoutShape(LayoutShape&& other) noexcept;
  LayoutShape& operator=(const LayoutShape& other);
  LayoutShape& operator=(LayoutShape&& other) noexcept;
  ~LayoutShape();
  bool operator==(const LayoutShape& other) const;
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
  Elements chunk = Elements::max();   ///< most elements of one chunk; max: the whole in one loop
  std::uint32_t slices = 1;           ///< messages per chunk
  Elements grain{1};                  ///< chunks and slices are multiples of this, but for the last
  std::uint32_t rotation = 0;         ///< ranks by which the way out of a group moves per channel; 0: ascending order
  std::uint32_t group = 0;            ///< ranks per node, for rotated orders and hierarchies; divides the ranks; 0: all
  Shared<ChannelOrders> orders = {};  ///< in place of rotation: the paths through a group that a library found
  Elements least_slice{
      1};  ///< of rings: fewest elements of a slice, if its chunk has as many; later slices get the rest
  LayoutShape shape = {};
  bool operator==(const Layout&) const = default;

  /// The shape, or where the layout has another one, that shape by default.
  template <class Shape>
  const Shape& as() const {
    static const Shape by_default;
    const Shape* const own = std::get_if<Shape>(&shape);
    return own == nullptr ? by_default : *own;
  }
};

/// A layout that was made for elements of one byte, for elements of that size: sizes are rounded down, to at least one.
Layout for_elements_of(Bytes element_size, Layout layout_of_bytes);

}  // namespace athanor
