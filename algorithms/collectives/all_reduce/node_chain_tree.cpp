#include "algorithms/patterns/tree_all_reduce.hpp"

namespace athanor {

namespace {

Cost cost(const Collective& collective, const Layout& layout) { return TreeAllReduce(collective, layout).cost(); }

}  // namespace

Algorithm node_chain_tree_all_reduce() {
  return {
      .name = "node_chain_tree",
      .kind = CollectiveKind::all_reduce,
      .summary = "a chain through each node, and two binary trees over the nodes; each takes half of the payload",
      .formula =
          "in one chunk 2(g-1+h) alpha for P/g nodes of g ranks, h = the depth of the trees over the nodes, about log2 "
          "(P/g); a node sends 2n and gets 2n with more than two nodes, n each way with two; chunks follow each other",
      .source =
          "NCCL 2.30.7, src/graph/trees.cc, src/graph/connect.cc and src/device/all_reduce.h (Tree); Jeaugey, "
          "Massively scale your deep learning training with NCCL 2.4, 2019",
      .explanation =
          "The ranks of a node form a chain in the channel's order, and the first of it speaks with other nodes: sums "
          "go up the chain and on to the parent node, results come back down, chunk after chunk. Over the nodes there "
          "are two binary trees, half of the payload in each: a node is a leaf of one and an inner node of the other. "
          "tree_heads says to which places of a chain the nodes below attach.",
      .ranks = "any number of ranks that groups divide evenly; without groups it is one chain",
      .fabrics = "nodes with a fast inside, many of them, small and middle payloads",
      .pipelines = true,
      .make_for_many = make_schedule<TreeAllReduce>,
      .granule_for_many = TreeAllReduce::granule,
      .cost_in_shape = cost,
  };
}

}  // namespace athanor
