#include <bit>

#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// In round k a rank tells the rank 2^k places after it, and hears from the one as far before: it then knows of the
/// 2^(k+1) - 1 ranks before it.
class DisseminationBarrier final : public Circulant<RankSchedule> {
 public:
  DisseminationBarrier(const Collective& collective, const Layout&) : Circulant(collective) {}

  std::uint32_t lanes(AgentId) const override { return 1; }
  Lane lane(AgentId, LaneId) const override {
    return {2 * rounds(ranks()), 1, rounds(ranks()), rounds(ranks()), ProgramId{0}};
  }

  Primitive at(AgentId, LaneId, std::uint64_t, std::uint32_t step) const override {
    Primitive primitive;
    Ports& ports = step % 2 == 0 ? primitive.sends : primitive.receives;
    ports.first = step / 2;
    ports.count = 1;
    return primitive;
  }

  Elements message_limit() const override { return Elements::zero(); }
  Elements shift(Buffer) const override { return Elements::zero(); }

 protected:
  std::uint32_t distance(PortId port) const override { return 1U << port.value; }
};

Cost cost(const Collective& collective) { return {rounds(collective.ranks), Elements::zero(), Elements::zero()}; }

}  // namespace

Algorithm dissemination_barrier() {
  return {
      .name = "dissemination",
      .kind = CollectiveKind::barrier,
      .summary = "every rank tells one at a doubling distance in each round; the fewest rounds",
      .formula = "ceil(log2 P) alpha",
      .source = "Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, 1988",
      .explanation =
          "In round k every rank tells the rank 2^k places after it, and hears from the one 2^k before: it then knows "
          "of 2^(k+1) - 1 others. The fewest rounds.",
      .ranks = "any number of ranks",
      .fabrics = "any",
      .make_for_many = make_schedule<DisseminationBarrier>,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
