#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

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
  Piece results(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t exchange, bool keeps) const;
  Primitive halve(const Piece& range, std::uint32_t exchange, bool sends, Buffer sum) const;
  static Primitive restore(const Piece& range, std::uint32_t exchange, bool sends);
};

/// The lowest `bits` bits of a number in the opposite order.
std::uint32_t bits_reversed(std::uint32_t number, std::uint32_t bits);

}  // namespace athanor
