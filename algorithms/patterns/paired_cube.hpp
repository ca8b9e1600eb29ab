#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// A hypercube of ranks in ascending order, for any number of them: with 2^D + e ranks the first 2 e go in pairs of
/// neighbours, whose even rank is a corner and serves the odd one; every other rank is a corner by itself. So ranges of
/// corners are ranges of ranks. Port d of a corner leads to the corner that differs in bit d; port D to the rank that
/// it serves, whose only port is 0. Requires at least two ranks.
class PairedCube {
 public:
  explicit PairedCube(std::uint32_t ranks)
      : dimensions_(static_cast<std::uint32_t>(std::bit_width(ranks)) - 1), pairs_(ranks - (1U << dimensions_)) {}

  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t corners() const { return 1U << dimensions_; }
  bool folds() const { return pairs_ > 0; }
  bool is_corner(std::uint32_t rank) const { return !paired(rank) || rank % 2 == 0; }
  bool serves(std::uint32_t rank) const { return paired(rank) && rank % 2 == 0; }
  /// Requires a rank that is a corner, and the inverse. The ranks of corner c begin with rank_at(c); c = corners():
  /// all.
  std::uint32_t corner(std::uint32_t rank) const { return paired(rank) ? rank / 2 : rank - pairs_; }
  std::uint32_t rank_at(std::uint32_t corner) const { return corner < pairs_ ? 2 * corner : corner + pairs_; }

  /// The ranks of the corners that agree with a corner in bit `dimension` and all above it (`own`), or that differ from
  /// it in that bit alone of these. Requires a rank that is a corner.
  struct Range {
    std::uint32_t first;
    std::uint32_t count;
  };
  Range side(std::uint32_t rank, std::uint32_t dimension, bool own) const {
    const std::uint32_t begin = (own ? corner(rank) : corner(rank) ^ (1U << dimension)) >> dimension << dimension;
    return {rank_at(begin), rank_at(begin + (1U << dimension)) - rank_at(begin)};
  }

  std::uint32_t ports(std::uint32_t rank) const { return is_corner(rank) ? dimensions_ + (serves(rank) ? 1 : 0) : 1; }
  /// Connections are the same both ways: the far end of out-port p sends to in-port p.
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const {
    if (!is_corner(rank)) { return {AgentId{rank - 1}, lane, PortId{dimensions_}}; }
    if (port.value == dimensions_) { return {AgentId{rank + 1}, lane, PortId{0}}; }
    return {AgentId{rank_at(corner(rank) ^ (1U << port.value))}, lane, port};
  }

 private:
  bool paired(std::uint32_t rank) const { return rank < 2 * pairs_; }

  std::uint32_t dimensions_;
  std::uint32_t pairs_;
};

/// What reduce-scatter and all-gather along the exchanges of a paired cube share: one lane per channel. A rank that is
/// no corner has two steps; a corner has a send and a receive for each exchange, and three steps more if it serves one.
class PairedCubeBlocks : public BlockSchedule {
 public:
  PairedCubeBlocks(const Collective& collective, const Layout& layout)
      : BlockSchedule(collective, most_blocks(collective.ranks), layout), cube_(collective.ranks) {}

  /// Where pairs are, ranges are of different lengths, and no rank does what another does.
  Lane lane(AgentId agent, LaneId lane) const final {
    const std::uint32_t rank = agent.value;
    const std::uint32_t steps = !cube_.is_corner(rank) ? 2 : 2 * cube_.dimensions() + (cube_.serves(rank) ? 3 : 0);
    const std::uint32_t program = cube_.folds() ? rank : 0;
    return {steps, cut().loops(lane.value), cube_.ports(rank), cube_.ports(rank),
            ProgramId{program * cut().channels() + cut().shape(lane.value)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return cube_.opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return cube_.opposite(agent.value, lane, in); }
  Elements message_limit() const final { return std::min(collective().count, cut().widest() * most_blocks(ranks())); }

 protected:
  using Range = PairedCube::Range;
  /// A channel's part of the payload in one loop.
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
  };

  const PairedCube& cube() const { return cube_; }
  Range all() const { return {0, ranks()}; }
  Primitive over_blocks(const Range& range, const Part& part) const {
    return over(cut().elements(range.first, range.count, part.channel, part.loop));
  }
  Cells cells(Buffer buffer, const Range& range, const Part& part) const {
    return cut().cells(buffer, range.first, part.channel, part.loop);
  }
  Primitive send(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = over_blocks(range, part);
    primitive.operands[0] = cells(buffer, range, part);
    primitive.sends = {port, 1};
    return primitive;
  }
  Primitive receive(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = over_blocks(range, part);
    primitive.receives = {port, 1};
    primitive.store = cells(buffer, range, part);
    return primitive;
  }

 private:
  static std::uint32_t most_blocks(std::uint32_t ranks) { return PairedCube(ranks).folds() ? ranks : ranks / 2; }

  PairedCube cube_;
};

}  // namespace athanor
