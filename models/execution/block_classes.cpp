#include "models/execution/block_classes.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// Gives each of these things the number of its class and its sum together. Returns how many there are.
template <class Things>
std::uint32_t renumber(const Things& things, std::vector<std::uint32_t>& classes, const std::vector<Colour>& sums) {
  ClassNumbering numbering;
  for (const auto thing : things) {
    classes[thing.value] = numbering.number(mix(sums[thing.value], classes[thing.value]));
  }
  return numbering.count();
}

std::vector<LinkIndex> crossed_between_blocks(const BlockLayout& layout) {
  std::vector<bool> crossed(layout.links().size());
  for (const BlockId block : layout.blocks().ids()) {
    for (const OutwardConnection& connection : layout.outward(block)) {
      for (const LinkIndex link : layout.crossed_by(connection)) { crossed[link.value] = true; }
    }
  }
  std::vector<LinkIndex> links;
  for (LinkIndex link{0}; link.value < crossed.size(); ++link.value) {
    if (crossed[link.value]) { links.push_back(link); }
  }
  return links;
}

}  // namespace

BlockClasses::BlockClasses(const BlockLayout& layout, const std::vector<BlockGraph>& graphs, const Schedule& schedule)
    : layout_(layout),
      graphs_(graphs),
      schedule_(schedule),
      links_(layout.links().size()),
      between_(crossed_between_blocks(layout)),
      inside_(graphs.size()),
      block_sums_(layout.blocks().count()),
      link_sums_(layout.links().size()) {
  for (const BlockId block : layout.blocks().ids()) { blocks_.push_back(layout.shape(block)); }
  block_classes_ = layout.shapes();
  std::vector<Colour> rates;
  for (const LinkIndex link : layout.graph_links().ids()) {
    const Colour rate = mix(1, static_cast<Colour>(layout.graph_links()[link].rate.count()));
    rates.push_back(mix(rate, layout.is_slack(link) ? 1 : 0));
  }
  link_classes_ = renumber(between_, links_, rates);
  for (std::uint32_t shape = 0; shape < graphs.size(); ++shape) {
    Inside& inside = inside_[shape];
    inside.seen.assign(graphs[shape].graph.connections.size(), 0);
    inside.classes = equal_classes(graphs[shape].graph, schedule, inside.seen);
    inside.ends = classes_of_ends(shape, inside.seen);
  }
}

bool BlockClasses::refine(std::uint64_t looks) {
  const std::uint64_t each = layout_.outward_connections();
  for (std::uint64_t looked = 0; looked <= looks; looked += each) {
    look();
    if (!split()) {
      split_slack_links();
      return true;
    }
  }
  return false;
}

/// By what crosses them, which they tell nothing of, and where on its way.
void BlockClasses::split_slack_links() {
  std::fill(link_sums_.begin(), link_sums_.end(), 0);
  for (const BlockId block : layout_.blocks().ids()) {
    std::size_t number = 0;
    for (const OutwardConnection& connection : layout_.outward(block)) {
      const ConnectionId out = graphs_[layout_.shape(block)].outward[number++];
      const Colour colour = this->colour(block, out, connection);
      Colour place = 0;
      for (const LinkIndex link : layout_.crossed_by(connection)) {
        ++place;
        if (layout_.is_slack(link)) { link_sums_[link.value] += mix(colour, place); }
      }
    }
  }
  link_classes_ = renumber(between_, links_, link_sums_);
}

Colour BlockClasses::colour(BlockId source, ConnectionId out, const OutwardConnection& connection) const {
  const std::uint32_t target_shape = layout_.shape(connection.target);
  const ConnectionId in = graphs_[target_shape].graph.in_connections[connection.target_in];
  Colour colour = mix(connection.figures, blocks_[source.value]);
  colour = mix(colour, inside_[layout_.shape(source)].classes.connections[out.value]);
  colour = mix(mix(colour, blocks_[connection.target.value]), inside_[target_shape].classes.connections[in.value]);
  for (const LinkIndex link : layout_.crossed_by(connection)) {
    if (!layout_.is_slack(link)) { colour = mix(colour, links_[link.value]); }
  }
  return colour;
}

/// Tells all that a connection between blocks is next to of what its colour is.
void BlockClasses::look() {
  std::fill(block_sums_.begin(), block_sums_.end(), 0);
  std::fill(link_sums_.begin(), link_sums_.end(), 0);
  for (std::uint32_t shape = 0; shape < graphs_.size(); ++shape) {
    inside_[shape].surroundings.assign(graphs_[shape].graph.connections.size(), 0);
  }
  for (const BlockId block : layout_.blocks().ids()) {
    const std::uint32_t shape = layout_.shape(block);
    std::size_t number = 0;
    for (const OutwardConnection& connection : layout_.outward(block)) {
      const ConnectionId out = graphs_[shape].outward[number++];
      const Colour colour = this->colour(block, out, connection);
      const std::uint32_t target_shape = layout_.shape(connection.target);
      const ConnectionId in = graphs_[target_shape].graph.in_connections[connection.target_in];
      block_sums_[block.value] += mix(1, colour);
      block_sums_[connection.target.value] += mix(2, colour);
      inside_[shape].surroundings[out.value] += mix(colour, block.value);
      inside_[target_shape].surroundings[in.value] += mix(colour, connection.target.value);
      Colour place = 0;
      for (const LinkIndex link : layout_.crossed_by(connection)) {
        ++place;
        if (!layout_.is_slack(link)) { link_sums_[link.value] += mix(colour, place); }
      }
    }
  }
}

/// Whether anything has.
bool BlockClasses::split() {
  const std::uint32_t blocks = renumber(layout_.blocks().ids(), blocks_, block_sums_);
  const std::uint32_t links = renumber(between_, links_, link_sums_);
  bool any = blocks > block_classes_ || links > link_classes_;
  block_classes_ = blocks;
  link_classes_ = links;
  for (std::uint32_t shape = 0; shape < graphs_.size(); ++shape) { any = split_inside(shape) || any; }
  return any;
}

/// How many there are when connections of one class may have different colours.
std::uint32_t BlockClasses::classes_of_ends(std::uint32_t shape, const std::vector<Colour>& colours) const {
  const BlockGraph& graph = graphs_[shape];
  ClassNumbering numbering;
  const std::vector<std::uint32_t>& known = inside_[shape].classes.connections;
  for (const ConnectionId out : graph.outward) { numbering.number(mix(colours[out.value], known[out.value])); }
  for (const ConnectionId in : graph.inward) { numbering.number(mix(colours[in.value], known[in.value])); }
  return numbering.count();
}

/// Ends of one class that have different surroundings in some block are told apart in all blocks of the shape.
bool BlockClasses::split_inside(std::uint32_t shape) {
  Inside& inside = inside_[shape];
  if (classes_of_ends(shape, inside.surroundings) == inside.ends) { return false; }
  for (const std::vector<ConnectionId>* ends : {&graphs_[shape].outward, &graphs_[shape].inward}) {
    for (const ConnectionId end : *ends) {
      inside.seen[end.value] = mix(inside.surroundings[end.value], inside.classes.connections[end.value]);
    }
  }
  inside.classes = equal_classes(graphs_[shape].graph, schedule_, inside.seen);
  inside.ends = classes_of_ends(shape, std::vector<Colour>(inside.seen.size()));
  return true;
}

}  // namespace athanor
