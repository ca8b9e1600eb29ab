#pragma once

#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/patterns/torus_rings.hpp"

namespace athanor {

/// What reduce-scatter and all-gather on a grid of rings share: 2D copies, one for each dimension to begin with and
/// each way round, each with its part of every block. In dimension `order` of a copy, messages hold the blocks of all
/// ranks with one coordinate there and with this rank's coordinates in the dimensions before: a group per position of
/// the ring.
///
/// Blocks of a group lie at one distance from each other where the dimensions to come stand side by side; else a group
/// is sent in parts, each of which goes all the way round before the next. A channel has a lane per dimension, which
/// waits for the one before to have ended the same loop.
class TorusBlocks : public CutSchedule<BlockRanges> {
 public:
  TorusBlocks(const Collective& collective, const Layout& layout, const Dimensions& dimensions);

  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions);

  std::uint32_t lanes(AgentId) const final { return cut().channels() * rings_.dimensions(); }
  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return beside(agent, lane, out, true); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return beside(agent, lane, in, false); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;
  Elements message_limit() const final;
  std::uint32_t least_slots() const final;

  /// Of a layout with one loop.
  Cost cost() const;

 protected:
  /// One lane's message: its blocks, and where on the ring it is.
  struct Message {
    std::uint32_t channel = 0;
    std::uint64_t loop = 0;
    std::uint32_t order = 0;
    std::uint32_t first_block = 0;
    std::uint32_t blocks = 1;
    std::uint32_t distance = 1;  ///< from one block to the next
    std::uint32_t call = 0;      ///< 0: it sets out here; side - 1: it ends here
    std::uint32_t side = 1;

    bool begins() const { return call == 0; }
    bool ends() const { return call + 1 == side; }
  };

  std::uint32_t dimensions() const { return rings_.dimensions(); }
  Cells cells(Buffer buffer, const Message& message) const;

 private:
  /// The order in which lane `number` of a channel comes, of which lane 0 is the first.
  virtual std::uint32_t order_of(std::uint32_t number) const = 0;
  /// Places on the ring that a group is before this rank when it sets out from here.
  virtual std::uint32_t first_group() const = 0;
  /// Adds operand, store and finish.
  virtual void fill(const Message& message, AgentId agent, Primitive& primitive) const = 0;
  /// Does a rank that receives add?
  virtual bool reduces() const = 0;

  /// How the blocks of a group lie: `parts` of them, each a series at one distance.
  struct Shape {
    std::uint32_t parts = 1;
    std::uint32_t between_parts = 0;
    std::uint32_t blocks = 1;
    std::uint32_t distance = 1;
  };
  Shape shape(std::uint32_t channel, std::uint32_t order) const;
  /// The first block of the group at a position.
  std::uint32_t group(std::uint32_t rank, std::uint32_t channel, std::uint32_t order, std::uint32_t position) const;
  Elements elements(std::uint32_t rank, std::uint32_t channel, std::uint32_t order, std::uint32_t position) const;
  Cost work_of(std::uint32_t rank) const;
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool next) const;

  TorusRings rings_;
};

}  // namespace athanor
