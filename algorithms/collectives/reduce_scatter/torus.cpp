#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_blocks.hpp"

namespace athanor {

namespace {

/// Around the rings of the first dimension of a copy first: what is left to sum up shrinks by the factor of a side each
/// time, and stands in scratch at the places of the blocks.
class TorusReduceScatter final : public TorusBlocks {
 public:
  using TorusBlocks::TorusBlocks;

  Memory memory(AgentId agent) const override {
    Memory memory = TorusBlocks::memory(agent);
    if (dimensions() > 1) { memory.scratch = collective().count; }
    return memory;
  }

 private:
  std::uint32_t order_of(std::uint32_t number) const override { return number; }
  /// A sum sets out from the rank after its owner, and goes all the way round.
  std::uint32_t first_group() const override { return 1; }
  bool reduces() const override { return true; }

  void fill(const Message& message, AgentId agent, Primitive& primitive) const override {
    primitive.operands[0] = cells(message.order == 0 ? Buffer::input : Buffer::scratch, message);
    if (!message.ends()) { return; }
    primitive.finish = message.order + 1 == dimensions();
    if (!primitive.finish) {
      primitive.store = cells(Buffer::scratch, message);
      return;
    }
    const Piece part = cut().part(agent.value, message.channel, message.loop);
    primitive.store = contiguous(Buffer::output, part.first);
  }
};

}  // namespace

Algorithm torus_reduce_scatter() {
  return on_any_grid<TorusReduceScatter>(
      {
          .name = "torus",
          .kind = CollectiveKind::reduce_scatter,
          .summary = "reduced along each dimension of a torus in turn; 2D copies at once use all ports of D dimensions",
          .formula = "sum (X_d - 1) alpha + (P-1)/(2 D P) n beta + (P-1)/P n gamma, beta that of one of 2D ports; for "
                     "equal sides "
                     "X_d and D up to 2",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation = "As the reduce-scatter in torus: around the rings of one dimension, then, for the part that "
                         "this has left to "
                         "the rank, around those of the next. Of 2D copies one begins in each dimension and each way "
                         "round, with its "
                         "part of every block. From three dimensions on, copies that begin in the middle send what "
                         "lies in several "
                         "places in as many messages.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3);
}

}  // namespace athanor
