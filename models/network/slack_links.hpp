#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/network.hpp"

namespace athanor {

/// Finds slack links: those that never decide a rate, because all that cross them cross another link that is no faster
/// (and that more cross, or as many), or because the caps of all that cross them fit on them together. Whatever level
/// of progressive filling that one, or those caps, can bear, the slack link can bear too, rounding included: with it or
/// without it, MaxMinShares gives the same rates to the last unit.
///
/// Paths are told one after the other. Links may get their numbers meanwhile.
class SlackLinks {
 public:
  /// `path`: of one queue pair, which `links` has. `cap`: of it.
  void add(std::span<const FlowGraph::Use> path, Bandwidth cap, const IdVector<LinkIndex, FlowGraph::Link>& links);

  /// By link, of so many. `kept`: of these none is slack; other paths may cross them than were told of.
  std::vector<bool> find(const IdVector<LinkIndex, FlowGraph::Link>& links, const std::vector<bool>& kept) const;

 private:
  struct Entry {
    std::uint32_t users = 0;
    Bandwidth caps = Bandwidth::zero();  ///< of all of them, and 1 byte/s each for rounding; max: some have none
    std::uint32_t first = 0;             ///< into `others_`
    std::uint32_t others = 0;            ///< links, no faster, that all users so far cross as well, and itself once
  };
  void begin(Entry& entry, LinkIndex self, std::span<const FlowGraph::Use> path,
             const IdVector<LinkIndex, FlowGraph::Link>& links);

  std::vector<Entry> entries_;  ///< by link
  std::vector<LinkIndex> others_;
};

/// Marks those of a graph in which every connection stands for itself.
void mark_slack_links(FlowGraph& graph);

}  // namespace athanor
