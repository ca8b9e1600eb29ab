#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_blocks.hpp"

namespace athanor {

namespace {

/// Around the rings of the last dimension of a copy first: what a rank holds grows by the factor of a side each time.
class TorusAllGather final : public TorusBlocks {
 public:
  using TorusBlocks::TorusBlocks;

 private:
  std::uint32_t order_of(std::uint32_t number) const override { return dimensions() - 1 - number; }
  std::uint32_t first_group() const override { return 0; }
  bool reduces() const override { return false; }

  /// What sets out in the first dimension is the rank's own block, and comes from its input.
  void fill(const Message& message, AgentId agent, Primitive& primitive) const override {
    const bool own = message.begins() && message.order + 1 == dimensions();
    if (own) {
      const Piece part = cut().part(agent.value, message.channel, message.loop);
      primitive.operands[0] = contiguous(Buffer::input, part.first);
    } else if (message.begins()) {
      primitive.operands[0] = cells(Buffer::output, message);
    }
    if (!message.begins() || (own && !collective().in_place)) { primitive.store = cells(Buffer::output, message); }
  }
};

}  // namespace

Algorithm torus_all_gather() {
  return on_any_grid<TorusAllGather>(
      {
          .name = "torus",
          .kind = CollectiveKind::all_gather,
          .summary =
              "gathered along each dimension of a torus in turn; 2D copies at once use all ports of D dimensions",
          .formula = "sum (X_d - 1) alpha + (P-1)/(2 D P) n beta, beta that of one of 2D ports; for equal sides X_d "
                     "and D up to 2",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "As the all-gather in torus: around the rings of one dimension, then, with all that this has brought, "
              "around "
              "those of the next. Of 2D copies one begins in each dimension and each way round, with its part of every "
              "block. From three dimensions on, copies that begin in the middle send what lies in several places in as "
              "many "
              "messages.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3);
}

}  // namespace athanor
