#include <algorithm>
#include <bit>

#include "algorithms/patterns/cube_all_reduce.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Ranks are counted from the root, which is corner 0 of a cube. Halving exchange d splits the pieces that a corner
/// still sums up: it keeps the lower half if its bit d is clear, and swaps the other half with the corner that differs
/// in bit d. Then the corners with the highest bit d, for d = D-1 .. 0, send all that they have to the corner without
/// that bit. The root's sums stand in its output, the others' in scratch.
class ReduceScatterGather final : public VectorSchedule {
 public:
  ReduceScatterGather(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, FoldedCube(collective.ranks).corners(),
                       for_messages_of(FoldedCube(collective.ranks).corners(), layout)),
        cube_(collective.ranks) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t v = from_root(agent);
    const std::uint32_t ports = cube_.is_corner(v) ? cube_.dimensions() + (cube_.serves(v) ? 1 : 0) : 1;
    const std::uint32_t halving = cube_.is_corner(v) ? 2 * cube_.dimensions() + (cube_.serves(v) ? 1 : 0) : 0;
    const std::uint32_t sends_all = v != 0 ? 1 : 0;
    const std::uint32_t role = !cube_.is_corner(v) ? 0 : 1 + 2 * highest(v) + (cube_.serves(v) ? 1 : 0);
    return {halving + gathered(v) + sends_all, cut().loops(lane.value), ports, ports,
            ProgramId{2 * role + cut().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = VectorSchedule::memory(agent);
    if (!is_root(agent) && cube_.is_corner(from_root(agent))) { memory.scratch = area() * cut().channels(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return opposite(agent, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return opposite(agent, lane, in); }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t v = from_root(agent);
    const Part part{lane.value, loop, v};
    if (!cube_.is_corner(v)) { return send(all(part), part, true, 0); }
    const bool serves = cube_.serves(v);
    if (serves && step == 0) { return add(all(part), part, true, cube_.dimensions()); }
    const std::uint32_t half = step - (serves ? 1 : 0);
    const std::uint32_t dimension = half / 2;
    if (dimension < cube_.dimensions()) {
      const bool fresh = dimension == 0 && !serves;
      if (half % 2 == 0) { return send(held(part, dimension, false), part, fresh, dimension); }
      Primitive primitive = add(held(part, dimension, true), part, fresh, dimension);
      primitive.finish = dimension + 1 == cube_.dimensions();
      return primitive;
    }
    const std::uint32_t call = half - 2 * cube_.dimensions();
    const std::uint32_t next = cube_.dimensions() - 1 - call;
    if (call < gathered(v)) { return receive(held(part, next, false), part, next); }
    return send(own(part, highest(v)), part, false, highest(v) - 1);
  }

  Elements message_limit() const override {
    return cut().message_limit() * (cube_.folds() ? cube_.corners() : cube_.corners() / 2);
  }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
    std::uint32_t corner;
  };

  std::uint32_t from_root(AgentId agent) const { return before(agent.value, collective().root); }
  /// Port d leads to the corner that differs in bit d, port D to the rank beyond; connections are the same both ways.
  Endpoint opposite(AgentId agent, LaneId lane, PortId port) const {
    const std::uint32_t v = from_root(agent);
    Endpoint end{AgentId{v ^ (1U << port.value)}, lane, port};
    if (!cube_.is_corner(v)) { end = {AgentId{v - cube_.corners()}, lane, PortId{cube_.dimensions()}}; }
    if (port.value == cube_.dimensions()) { end = {AgentId{v + cube_.corners()}, lane, PortId{0}}; }
    end.agent.value = after(end.agent.value, collective().root);
    return end;
  }
  /// Bits up to the highest one that is set.
  static std::uint32_t highest(std::uint32_t corner) { return static_cast<std::uint32_t>(std::bit_width(corner)); }
  /// Messages that a corner gets while gathering.
  std::uint32_t gathered(std::uint32_t v) const { return cube_.is_corner(v) ? cube_.dimensions() - highest(v) : 0; }
  Elements area() const { return cut().chunk() * cube_.corners(); }

  /// Of the pieces that a corner holds before halving exchange d.
  ElementRange own(const Part& part, std::uint32_t dimension) const {
    return cut().pieces(part.channel, part.loop, first(part, dimension), cube_.corners() >> dimension);
  }
  /// The half of them that it keeps, or the other.
  ElementRange held(const Part& part, std::uint32_t dimension, bool keeps) const {
    const std::uint32_t half = cube_.corners() >> (dimension + 1);
    const bool upper = (part.corner >> dimension & 1U) != 0;
    return cut().pieces(part.channel, part.loop, first(part, dimension) + (upper == keeps ? half : 0), half);
  }
  std::uint32_t first(const Part& part, std::uint32_t dimension) const {
    std::uint32_t first = 0;
    for (std::uint32_t bit = 0; bit < dimension; ++bit) {
      if ((part.corner >> bit & 1U) != 0) { first += cube_.corners() >> (bit + 1); }
    }
    return first;
  }
  ElementRange all(const Part& part) const { return cut().pieces(part.channel, part.loop, 0, cube_.corners()); }

  Cells sum(const ElementRange& range, const Part& part) const {
    if (part.corner == 0) { return contiguous(Buffer::output, range.first); }
    return contiguous(Buffer::scratch, area() * part.channel + range.first - all(part).first);
  }
  Primitive send(const ElementRange& range, const Part& part, bool fresh, std::uint32_t port) const {
    Primitive primitive = over(range);
    primitive.operands[0] = fresh ? contiguous(Buffer::input, range.first) : sum(range, part);
    primitive.sends = {port, 1};
    return primitive;
  }
  Primitive receive(const ElementRange& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = over(range);
    primitive.receives = {port, 1};
    primitive.store = sum(range, part);
    return primitive;
  }
  Primitive add(const ElementRange& range, const Part& part, bool fresh, std::uint32_t port) const {
    Primitive primitive = receive(range, part, port);
    primitive.operands[0] = fresh ? contiguous(Buffer::input, range.first) : sum(range, part);
    return primitive;
  }

  FoldedCube cube_;
};

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(FoldedCube(collective.ranks).corners(), layout);
}

/// Elements that the corner sends: all that it does not keep, and when gathering all that it has.
Elements sent_by(std::uint32_t corner, const FoldedCube& cube, const VectorCut& cut) {
  std::uint32_t first = 0;
  Elements sent;
  for (std::uint32_t dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const std::uint32_t half = cube.corners() >> (dimension + 1);
    const bool upper = (corner >> dimension & 1U) != 0;
    sent += cut.pieces(0, 0, first + (upper ? 0 : half), half).count;
    if (upper) { first += half; }
    if (corner >> dimension == 1) { sent += cut.pieces(0, 0, first, half).count; }
  }
  return sent;
}

/// The root keeps the lower halves, which are never the shorter ones, and serves a rank beyond if any does.
Cost cost(const Collective& collective) {
  const FoldedCube cube(collective.ranks);
  const VectorCut cut(collective.count, cube.corners(), {});
  Cost result{2 * cube.dimensions(), Elements::zero(), Elements::zero()};
  for (std::uint32_t corner = 0; corner < cube.corners(); ++corner) {
    result.sent = std::max(result.sent, sent_by(corner, cube, cut));
  }
  for (std::uint32_t dimension = 0; dimension < cube.dimensions(); ++dimension) {
    result.reduced += cut.pieces(0, 0, 0, cube.corners() >> (dimension + 1)).count;
  }
  if (cube.folds()) {
    result.steps += 1;
    result.sent = std::max(result.sent, collective.count);
    result.reduced += collective.count;
  }
  return result;
}

}  // namespace

Algorithm reduce_scatter_gather_reduce() {
  return {
      .name = "reduce_scatter_gather",
      .kind = CollectiveKind::reduce,
      .summary =
          "halves of the sum are swapped at doubling distances, then the results go to the root; for large payloads",
      .formula =
          "2 log2 P alpha + 2 (P-1)/P n beta + (P-1)/P n gamma; where P is no power of two, for the next lower one and "
          "+ alpha + n (beta + gamma) where the fold has a port of its own",
      .source = "Rabenseifner, Optimization of collective reduction operations, 2004",
      .explanation =
          "Partners at doubling distances from the root swap halves, as in Rabenseifner's all-reduce; then the "
          "finished pieces are gathered to the root along the same tree.",
      .ranks = "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner",
      .fabrics = "large payloads on fabrics with full bisection; powers of two",
      .make_for_many = make_schedule<ReduceScatterGather>,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
