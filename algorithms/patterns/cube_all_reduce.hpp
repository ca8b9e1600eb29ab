#pragma once

#include <bit>
#include <cstdint>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// Exchanges along the dimensions of a hypercube, for any number of ranks: the greatest power of two of them are its
/// corners. Each rank beyond gives its input to the corner with the same low bits, and gets the result from it.
/// Requires at least two ranks.
class FoldedCube {
 public:
  explicit FoldedCube(std::uint32_t ranks)
      : ranks_(ranks), dimensions_(static_cast<std::uint32_t>(std::bit_width(ranks)) - 1) {}

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t corners() const { return 1U << dimensions_; }
  bool folds() const { return ranks_ > corners(); }
  bool is_corner(std::uint32_t rank) const { return rank < corners(); }
  /// Is this the corner of a rank beyond?
  bool serves(std::uint32_t rank) const { return is_corner(rank) && rank + corners() < ranks_; }
  /// 0: a corner by itself, 1: one that serves, 2: beyond.
  std::uint32_t role(std::uint32_t rank) const { return is_corner(rank) ? (serves(rank) ? 1 : 0) : 2; }

 private:
  std::uint32_t ranks_;
  std::uint32_t dimensions_;
};

/// What the all-reduce algorithms on a folded cube share. One lane per channel and rank. A rank beyond the corners
/// sends and then receives; the corner that serves it adds before its exchanges and answers after them, which puts
/// one step before and one after those of the algorithm. Port e of a corner leads to its partner of exchange e; port
/// `dimensions` to the rank beyond, whose only port is 0.
class CubeAllReduce : public VectorSchedule {
 public:
  /// `pieces` as for VectorCut; `exchanges`: steps of a corner that serves nobody.
  CubeAllReduce(const Collective& collective, const Layout& layout, std::uint32_t pieces, std::uint32_t exchanges)
      : VectorSchedule(collective, pieces, slices_as_chunks(layout)),
        cube_(collective.ranks),
        pieces_(pieces),
        exchanges_(exchanges) {}

  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return opposite(agent.value, lane, in); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;

 protected:
  /// The corner that a corner exchanges with, and that with it; one per dimension.
  virtual std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const = 0;
  /// Step `step` of a corner. Its own sum stands in `sum` before it has stored any other.
  virtual Primitive exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step,
                             Buffer sum) const = 0;

  const FoldedCube& cube() const { return cube_; }

 private:
  std::uint32_t ports(std::uint32_t rank) const;
  /// Connections are the same both ways: the far end of out-port p sends to in-port p.
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const;

  FoldedCube cube_;
  std::uint32_t pieces_;
  std::uint32_t exchanges_;
};

/// Partners swap whole sums. What comes from one exchange goes out to the next at once, so a corner has one step more
/// than there are exchanges.
class DoublingCube : public CubeAllReduce {
 public:
  DoublingCube(const Collective& collective, const Layout& layout)
      : CubeAllReduce(collective, layout, 1, FoldedCube(collective.ranks).dimensions() + 1) {}

  static Cost cost(const Collective& collective) {
    const FoldedCube cube(collective.ranks);
    const std::uint32_t fold = cube.folds() ? 1 : 0;
    const Elements exchanged = collective.count * (cube.dimensions() + fold);
    return {cube.dimensions() + 2 * fold, exchanged, exchanged};
  }

 protected:
  Primitive exchange(std::uint32_t, LaneId lane, std::uint64_t loop, std::uint32_t step, Buffer sum) const final {
    const ElementRange range = cut().piece(lane.value, loop, 0);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(step <= 1 ? sum : Buffer::output, range.first);
    if (step > 0) {
      primitive.receives = {step - 1, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    if (step < cube().dimensions()) { primitive.sends = {step, 1}; }
    primitive.finish = step == cube().dimensions();
    return primitive;
  }
};

/// A loop's chunk has one piece per corner. Each halving exchange splits the pieces that a corner still sums up: it
/// keeps the half that its own place lies in, and swaps the other with its partner, so that it ends with one finished
/// piece. Doubling goes the same way back and swaps results. Each exchange is a send and a receive.
class HalvingCube : public CubeAllReduce {
 public:
  HalvingCube(const Collective& collective, const Layout& layout);

  static Elements granule(const Collective& collective, const Layout& layout);
  Elements message_limit() const final {
    return cut().message_limit() * (cube().folds() ? cube().corners() : cube().corners() / 2);
  }
  /// Of a layout with one loop.
  Cost cost() const;

 protected:
  /// The piece that a corner finishes. Those of partners agree in the bits above bit `dimensions - 1 - exchange` and
  /// differ in that one. That of corner 0 is 0.
  virtual std::uint32_t place(std::uint32_t channel, std::uint32_t corner) const = 0;

  Primitive exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step, Buffer sum) const final;

 private:
  ElementRange results(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t exchange, bool keeps) const;
  Primitive halve(const ElementRange& range, std::uint32_t exchange, bool sends, Buffer sum) const;
};

/// The lowest `bits` bits of a number in the opposite order.
std::uint32_t bits_reversed(std::uint32_t number, std::uint32_t bits);

}  // namespace athanor
