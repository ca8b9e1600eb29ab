#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/block_graph.hpp"
#include "models/execution/block_layout.hpp"
#include "models/execution/partition.hpp"
#include "models/execution/refinement.hpp"

namespace athanor {

/// An equitable partition of a whole schedule, found from its blocks: blocks in classes; of each shape the lanes,
/// connections and links inside of a block in classes that hold for all blocks of the shape; links between blocks in
/// classes. Two lanes are of one class where their blocks are and their places in these; so are connections and links.
class BlockClasses {
 public:
  /// Borrows them. `graphs`: by shape.
  BlockClasses(const BlockLayout& layout, const std::vector<BlockGraph>& graphs, const Schedule& schedule);

  /// Refines until nothing splits, or until that has taken so many looks at a connection: then false.
  bool refine(std::uint64_t looks);

  std::uint32_t of_block(BlockId block) const { return blocks_[block.value]; }
  std::uint32_t of_link(LinkIndex link) const { return links_[link.value]; }  ///< between blocks
  /// Links that connections between blocks cross, but those in the blocks of their ends.
  const std::vector<LinkIndex>& between() const { return between_; }
  const EqualClasses& inside(std::uint32_t shape) const { return inside_[shape].classes; }

 private:
  /// What the connections that leave or enter blocks of a shape are next to, in all of them: by connection of its
  /// graph.
  struct Inside {
    EqualClasses classes;
    std::vector<Colour> surroundings;
    std::vector<Colour> seen;  ///< the surroundings that the classes stand for
    std::uint32_t ends = 0;    ///< classes of connections that leave or enter
  };

  void look();
  bool split();
  void split_slack_links();
  bool split_inside(std::uint32_t shape);
  Colour colour(BlockId source, ConnectionId out, const OutwardConnection& connection) const;
  std::uint32_t classes_of_ends(std::uint32_t shape, const std::vector<Colour>& colours) const;

  const BlockLayout& layout_;
  const std::vector<BlockGraph>& graphs_;
  const Schedule& schedule_;
  std::vector<std::uint32_t> blocks_;
  std::vector<std::uint32_t> links_;  ///< by LinkIndex
  std::vector<LinkIndex> between_;
  std::vector<Inside> inside_;
  std::vector<Colour> block_sums_;
  std::vector<Colour> link_sums_;
  std::uint32_t block_classes_ = 0;
  std::uint32_t link_classes_ = 0;
};

}  // namespace athanor
