#include "algorithms/synthesis/tree_tables.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "algorithms/synthesis/table_builder.hpp"
#include "algorithms/synthesis/transfer_order.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Step = TableBuilder::Step;

/// A link of a tree, and of which data. Messages of one stage depend on those of earlier ones alone; each stage has
/// connections of its own, so that no loop waits for the last stage of the loop before it.
struct TreeMessage {
  std::uint32_t tree = 0;
  TreeLink link;
  std::uint32_t stage = 0;
};

/// By rank: how many links of the tree lie between the root and it.
std::vector<std::uint32_t> depths(const SpanningTree& tree, std::uint32_t ranks) {
  std::vector<std::uint32_t> depths(ranks);
  for (const TreeLink& link : tree.links) { depths[link.to] = depths[link.from] + 1; }
  return depths;
}

/// By rank: how many links lie between it and the rank that is farthest below it.
std::vector<std::uint32_t> heights(const SpanningTree& tree, std::uint32_t ranks) {
  std::vector<std::uint32_t> heights(ranks);
  for (auto link = tree.links.rbegin(); link != tree.links.rend(); ++link) {
    heights[link->from] = std::max(heights[link->from], heights[link->to] + 1);
  }
  return heights;
}

/// Where there are few messages, each unit of each tree has connections of its own.
constexpr std::int64_t kFewMessages = 4096;

bool has_few_messages(const TreeSet& set) {
  return set.units * set.graph.ranks * (set.graph.ranks - 1) <= kFewMessages;
}

TreeSet unit_by_unit(TreeSet set) {
  std::vector<SpanningTree> trees;
  for (SpanningTree& tree : set.trees) {
    const std::int64_t units = std::exchange(tree.units, 1);
    trees.insert(trees.end(), static_cast<std::size_t>(units), tree);
  }
  set.trees = std::move(trees);
  return set;
}

/// As it is written.
TreeSet written(const TreeSet& set) { return has_few_messages(set) ? unit_by_unit(set) : set; }

/// In the order of their stages. Where there are few, each tree has connections of its own: where links are shared
/// fairly, each then gets its part of them all the time.
void sort_by_stage(const TreeSet& set, std::vector<TreeMessage>& messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const TreeMessage& a, const TreeMessage& b) { return a.stage < b.stage; });
  if (!has_few_messages(set)) { return; }
  for (TreeMessage& message : messages) { message.stage = message.tree; }
}

/// In the order in which data go down all trees at once.
std::vector<TreeMessage> messages_of(const TreeSet& set) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> links;
  std::int64_t widest = 1;
  for (const CapacityLink& link : set.graph.links) {
    links.emplace(std::pair(link.from, link.to), static_cast<std::uint32_t>(links.size()));
    widest = std::max(widest, link.capacity);
  }
  std::vector<std::int64_t> capacities(links.size());
  for (const CapacityLink& link : set.graph.links) { capacities[links.at({link.from, link.to})] += link.capacity; }
  std::vector<Transfer> transfers;
  std::vector<TreeMessage> messages;
  for (std::uint32_t tree = 0; tree < set.trees.size(); ++tree) {
    std::map<std::uint32_t, std::uint32_t> entered;
    for (const TreeLink& link : set.trees[tree].links) {
      const auto before = entered.find(link.from);
      const std::uint32_t number = links.at({link.from, link.to});
      constexpr std::int64_t kUnit = std::int64_t{1} << 20;
      entered[link.to] = static_cast<std::uint32_t>(transfers.size());
      transfers.push_back({number, std::max<std::int64_t>(1, kUnit * set.trees[tree].units / capacities[number]),
                           before == entered.end() ? Transfer::kNone : before->second});
      messages.push_back({tree, link, 0});
    }
  }
  std::vector<TreeMessage> ordered;
  for (const std::uint32_t i : in_order_of_start(transfers)) { ordered.push_back(messages[i]); }
  return ordered;
}

/// Of each tree the first of its chunks in a vector of all ranks' chunks.
std::vector<std::uint32_t> first_chunks(const TreeSet& set) {
  std::vector<std::int64_t> used(set.graph.ranks);
  std::vector<std::uint32_t> first;
  for (const SpanningTree& tree : set.trees) {
    first.push_back(static_cast<std::uint32_t>(tree.root * set.units + used[tree.root]));
    used[tree.root] += tree.units;
  }
  return first;
}

std::uint32_t chunks_of(const SpanningTree& tree) { return static_cast<std::uint32_t>(tree.units); }

Collective collective_of(CollectiveKind kind, const TreeSet& set, bool in_place) {
  return {kind, set.graph.ranks, Elements{set.graph.ranks * set.units}, 0, in_place};
}

/// What has to end before a chunk of the output may be sent, by chunk; none: it is there from the beginning.
using Ready = std::vector<std::optional<Step>>;

/// Sums up the trees. Returns for every chunk the step that completes it at its root.
class Reducing {
 public:
  /// `output_of_all`: the output of every rank holds all chunks, not only its own.
  Reducing(const TreeSet& set, bool output_of_all, TableBuilder& builder)
      : set_(set), output_of_all_(output_of_all), builder_(builder), first_(first_chunks(set)) {
    for (const SpanningTree& tree : set.trees) {
      std::vector<Sum>& sums = sums_.emplace_back(set.graph.ranks);
      for (const TreeLink& link : tree.links) { ++sums[link.from].expected; }
    }
  }

  Ready run() {
    std::vector<TreeMessage> messages = messages_of(set_);
    std::reverse(messages.begin(), messages.end());
    std::vector<std::vector<std::uint32_t>> all;
    for (const SpanningTree& tree : set_.trees) { all.push_back(heights(tree, set_.graph.ranks)); }
    for (TreeMessage& message : messages) { message.stage = all[message.tree][message.link.to]; }
    sort_by_stage(set_, messages);
    for (const TreeMessage& message : messages) { move(message); }
    Ready ready(set_.graph.ranks * static_cast<std::size_t>(set_.units));
    for (std::uint32_t tree = 0; tree < set_.trees.size(); ++tree) {
      const auto last = sums_[tree][set_.trees[tree].root].last;
      std::fill_n(ready.begin() + first_[tree], set_.trees[tree].units, last);
    }
    return ready;
  }

 private:
  /// Of a rank in a tree.
  struct Sum {
    std::uint32_t expected = 0;  ///< children that have not sent yet
    std::optional<Step> last;
    TableCells place;
  };

  void move(const TreeMessage& message) {
    const SpanningTree& tree = set_.trees[message.tree];
    const TableCells input{first_[message.tree], Buffer::input};
    const std::uint32_t child = message.link.to;
    const std::uint32_t parent = message.link.from;
    const TableBuilder::Message sent{child, parent, message.stage, chunks_of(tree)};
    const Sum& below = sums_[message.tree][child];
    builder_.send(sent, below.last ? below.place : input, below.last);
    Sum& sum = sums_[message.tree][parent];
    if (!sum.last) { sum.place = place(tree, message.tree, parent); }
    sum.last = builder_.receive(sent, sum.place, sum.last ? sum.place : input, sum.last);
    if (--sum.expected == 0 && parent == tree.root) { builder_.finish(parent, *sum.last); }
  }

  TableCells place(const SpanningTree& tree, std::uint32_t number, std::uint32_t rank) {
    if (rank != tree.root) { return builder_.scratch(rank, chunks_of(tree)); }
    const auto own = static_cast<std::uint32_t>(tree.root * set_.units);
    return {output_of_all_ ? first_[number] : first_[number] - own, Buffer::output};
  }

  const TreeSet& set_;
  bool output_of_all_;
  TableBuilder& builder_;
  std::vector<std::uint32_t> first_;
  std::vector<std::vector<Sum>> sums_;  ///< by tree and rank
};

/// Sends down the trees what the roots have in `source`, once it is ready.
/// Its stages come behind `earlier` others.
void gather(const TreeSet& set, std::uint32_t earlier, Buffer source, const Ready& ready, TableBuilder& builder) {
  const std::vector<std::uint32_t> first = first_chunks(set);
  std::vector<TreeMessage> messages = messages_of(set);
  std::vector<std::vector<std::uint32_t>> all;
  for (const SpanningTree& tree : set.trees) { all.push_back(depths(tree, set.graph.ranks)); }
  for (TreeMessage& message : messages) { message.stage = all[message.tree][message.link.from]; }
  sort_by_stage(set, messages);
  for (TreeMessage& message : messages) { message.stage += earlier; }
  std::vector<std::map<std::uint32_t, Step>> arrived(set.trees.size());
  for (const TreeMessage& message : messages) {
    const SpanningTree& tree = set.trees[message.tree];
    const TableBuilder::Message sent{message.link.from, message.link.to, message.stage, chunks_of(tree)};
    const TableCells cells{first[message.tree], Buffer::output};
    if (message.link.from != tree.root) {
      builder.send(sent, cells, arrived[message.tree].at(message.link.from));
    } else if (source == Buffer::input) {
      builder.send(sent, {first[message.tree] - static_cast<std::uint32_t>(tree.root * set.units), Buffer::input});
    } else {
      builder.send(sent, cells, ready[first[message.tree]]);
    }
    arrived[message.tree].emplace(message.link.to, builder.receive(sent, cells));
  }
}

}  // namespace

Table gather_table(const TreeSet& trees, bool in_place) {
  const TreeSet set = written(trees);
  TableBuilder builder(collective_of(CollectiveKind::all_gather, set, in_place));
  gather(set, 0, Buffer::input, {}, builder);
  const auto units = static_cast<std::uint32_t>(set.units);
  for (std::uint32_t rank = 0; rank < set.graph.ranks; ++rank) {
    builder.copy(rank, units, {0, Buffer::input}, {rank * units, Buffer::output});
  }
  return std::move(builder).build();
}

Table reduce_table(const TreeSet& trees, bool in_place) {
  const TreeSet set = written(trees);
  TableBuilder builder(collective_of(CollectiveKind::reduce_scatter, set, in_place));
  Reducing(set, false, builder).run();
  return std::move(builder).build();
}

Table all_reduce_table(const TreeSet& reduced, const TreeSet& gathered, bool in_place) {
  require(reduced.units == gathered.units, "{} units are reduced and {} gathered", reduced.units, gathered.units);
  const TreeSet reduce = written(reduced);
  TableBuilder builder(collective_of(CollectiveKind::all_reduce, reduce, in_place));
  const Ready ready = Reducing(reduce, true, builder).run();
  const auto earlier = std::max(reduce.graph.ranks, static_cast<std::uint32_t>(reduce.trees.size()));
  gather(written(gathered), earlier, Buffer::output, ready, builder);
  return std::move(builder).build();
}

}  // namespace athanor
