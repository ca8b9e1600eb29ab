#include <algorithm>

#include <fmt/core.h>

#include "algorithms/patterns/rounds_exchange.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostByRail = 8;  // of a node, so that its ranks are one group of rounds

/// Does some message of the round take another rank's rail?
bool passes_on(const NodeGroups& nodes, std::uint32_t round) {
  return round >= nodes.group && round % nodes.group != 0;
}

/// Turns are one after the other, and a message that is passed on takes two steps. A gather's senders send at once.
std::uint32_t steps(const Collective& collective, const NodeGroups& nodes, RoundsPath path) {
  if (collective.kind == CollectiveKind::gather || collective.kind == CollectiveKind::send_receive) { return 1; }
  const std::uint32_t at_once = PeerRoundShape{}.peers_at_once;
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < collective.ranks; first += at_once) {
    bool passed = false;
    for (std::uint32_t round = first; round < std::min(first + at_once, collective.ranks); ++round) {
      passed = passed || (path == RoundsPath::by_rail && passes_on(nodes, round));
    }
    sum += passed ? 2 : 1;
  }
  return sum;
}

/// What a rank sends of its own.
Elements sent(const Collective& collective, std::uint32_t rank) {
  const Elements own = block(collective.count, collective.ranks, rank).count;
  const bool is_root = rank == collective.root;
  switch (collective.kind) {
    case CollectiveKind::all_to_all: return collective.count - own;
    case CollectiveKind::all_to_all_v: return collective.sizes->input(rank) - collective.sizes->size(rank, rank);
    case CollectiveKind::scatter: return is_root ? collective.count - own : Elements::zero();
    case CollectiveKind::gather: return is_root ? Elements::zero() : own;
    case CollectiveKind::send_receive: return is_root ? collective.count : Elements::zero();
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::barrier: break;
  }
  return {};
}

/// What the ranks of a node send to one of another node.
Elements sent_by_others(const Collective& collective, const NodeGroups& nodes, std::uint32_t rank, std::uint32_t to) {
  if (!collective.sizes) { return block(collective.count, collective.ranks, to).count * (nodes.group - 1); }
  Elements sum;
  for (std::uint32_t place = 0; place < nodes.group; ++place) {
    const std::uint32_t neighbour = nodes.rank(nodes.node(rank), place);
    if (neighbour != rank) { sum += collective.sizes->size(neighbour, to); }
  }
  return sum;
}

Cost cost(const Collective& collective, const Layout& layout, RoundsPath path) {
  Layout whole = layout;
  if (whole.group == 0) { whole.group = collective.ranks; }
  const NodeGroups nodes(collective.ranks, whole);
  Cost result{steps(collective, nodes, path), Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    Elements sum = sent(collective, rank);
    for (std::uint32_t node = 0; path == RoundsPath::by_rail && node < nodes.nodes; ++node) {
      if (node == nodes.node(rank)) { continue; }
      sum += sent_by_others(collective, nodes, rank, nodes.rank(node, nodes.place(rank)));
    }
    result.sent = std::max(result.sent, sum);
  }
  return result;
}

std::optional<std::string> refuses(const Collective& collective, const Layout& layout) {
  if (layout.group <= kMostByRail || layout.group == collective.ranks) { return std::nullopt; }
  return fmt::format("it takes nodes of at most {} ranks, not {}", kMostByRail, layout.group);
}

Algorithm rounds_algorithm(CollectiveKind kind, RoundsPath path) {
  const bool by_rail = path == RoundsPath::by_rail;
  Algorithm algorithm;
  algorithm.name = by_rail ? "rounds_by_rail" : "rounds";
  algorithm.kind = kind;
  algorithm.source =
      by_rail ? "NCCL 2.30.7, src/init.cc (the order of rounds), src/graph/paths.cc and src/transport/net.cc (PXN)"
              : "NCCL 2.30.7, src/init.cc (the order of rounds), src/enqueue.cc and src/device/sendrecv.h";
  algorithm.ranks = by_rail ? "any number of ranks that groups of at most eight divide evenly; without groups as rounds"
                            : "any number of ranks";
  algorithm.make_for_many = [path](const Collective& collective, const Layout& layout) {
    return std::make_unique<RoundsExchange>(collective, layout, path);
  };
  algorithm.granule_for_many = [](const Collective& collective, const Layout& layout) {
    return PeerMessages::granule(collective, layout, RoundChannels::channels(layout));
  };
  algorithm.cost_in_shape = [path](const Collective& collective, const Layout& layout) {
    return cost(collective, layout, path);
  };
  if (by_rail) { algorithm.refuses_many = refuses; }
  return algorithm;
}

Algorithm all_to_all_in_rounds(CollectiveKind kind, RoundsPath path) {
  Algorithm algorithm = rounds_algorithm(kind, path);
  if (path == RoundsPath::by_rail) {
    algorithm.summary = "as rounds, over the neighbour on the receiver's rail";
    algorithm.explanation =
        "As rounds, but a message to another node goes first to the neighbour whose place in the node is the "
        "receiver's, which passes it on: no message changes its rail, and a NIC sends what the whole node has for one "
        "rank after the other. NCCL calls it PXN.";
    algorithm.fabrics = "nodes with a fast inside and rails: only the inside of nodes joins these";
    return algorithm;
  }
  algorithm.summary = "all blocks in rounds, eight peers at a time on each channel, as a library runs Send and Recv";
  algorithm.explanation =
      "P rounds, the first with oneself: in each a rank sends to one other and gets from one other. On several nodes "
      "the rounds of a group of up to eight ranks follow each other, and groups at triangular distances, so that "
      "successive rounds go far apart. Each message is spread over `parts` channels, and a channel serves "
      "`peers_at_once` peers side by side; when all of these are served, the next ones come.";
  algorithm.fabrics = "any; many channels, each with few messages under way";
  return algorithm;
}

}  // namespace

Algorithm rounds_all_to_all() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all, RoundsPath::direct);
  algorithm.formula = "ceil(P/8) alpha + (P-1)/P n beta on one channel";
  return algorithm;
}

Algorithm rounds_by_rail_all_to_all() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all, RoundsPath::by_rail);
  algorithm.formula =
      "ceil(P/8) alpha + (P-1)/P n beta on one channel, and alpha more for each eight rounds in which messages are "
      "passed on; (P-g)(g-1)/(gP) n beta more in a node of g";
  return algorithm;
}

Algorithm rounds_all_to_all_v() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all_v, RoundsPath::direct);
  algorithm.formula = "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives";
  algorithm.explanation += " Blocks may have any size.";
  return algorithm;
}

Algorithm rounds_by_rail_all_to_all_v() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all_v, RoundsPath::by_rail);
  algorithm.formula =
      "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives, passed on or not, and alpha "
      "more for each eight rounds in which messages are passed on";
  return algorithm;
}

Algorithm rounds_gather() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::gather, RoundsPath::direct);
  algorithm.summary = "the root gets the blocks in rounds, eight at a time on each channel";
  algorithm.formula = "alpha + (P-1)/P n beta";
  algorithm.explanation =
      "All send at once, each block spread over `parts` channels; the root takes them in the order of its rounds, on "
      "each channel `peers_at_once` at a time.";
  algorithm.fabrics = "any";
  return algorithm;
}

Algorithm rounds_scatter() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::scatter, RoundsPath::direct);
  algorithm.summary = "the root sends the blocks in rounds, eight at a time on each channel";
  algorithm.formula = "ceil(P/8) alpha + (P-1)/P n beta on one channel";
  algorithm.explanation =
      "The root sends the blocks in the order of its rounds, each spread over `parts` channels, and on each channel "
      "`peers_at_once` at a time.";
  algorithm.fabrics = "any";
  return algorithm;
}

Algorithm rounds_send_receive() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::send_receive, RoundsPath::direct);
  algorithm.summary = "one message, spread over the channels of a peer";
  algorithm.formula = "alpha + n beta";
  algorithm.explanation =
      "The message from the root to the rank after it is spread over `parts` channels, each of which moves its part "
      "chunk after chunk.";
  algorithm.fabrics = "any";
  return algorithm;
}

}  // namespace athanor
