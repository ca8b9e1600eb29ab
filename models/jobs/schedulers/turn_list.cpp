#include "models/jobs/schedulers/turn_list.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

std::optional<TurnList::Place> TurnList::next(Place from, WallTime most) const {
  for (; from.block < blocks_.size(); ++from.block, from.index = 0) {
    const Block& block = blocks_[from.block];
    if (block.least_expected > most) { continue; }
    for (; from.index < block.entries.size(); ++from.index) {
      if (block.entries[from.index].expected <= most) { return from; }
    }
  }
  return {};
}

std::vector<TurnList::Block>::iterator TurnList::block_of(Turn turn) {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), turn,
                                      [](Turn t, const Block& block) { return t < block.entries.front().turn; });
  return after == blocks_.begin() ? after : after - 1;
}

void TurnList::measure(Block& block) {
  block.least_expected = WallTime::max();
  for (const Entry& entry : block.entries) { block.least_expected = std::min(block.least_expected, entry.expected); }
}

void TurnList::add(Turn turn, WallTime expected) {
  if (blocks_.empty()) {
    blocks_.push_back({{{turn, expected}}, expected});
    return;
  }
  const auto block = block_of(turn);
  const auto at = std::lower_bound(block->entries.begin(), block->entries.end(), turn,
                                   [](const Entry& entry, Turn t) { return entry.turn < t; });
  require(at == block->entries.end() || at->turn != turn, "job {} waits twice", turn.job.value);
  block->entries.insert(at, {turn, expected});
  block->least_expected = std::min(block->least_expected, expected);
  if (block->entries.size() <= kMost) { return; }
  const auto half = block->entries.begin() + kMost / 2;
  Block rest{{half, block->entries.end()}, {}};
  block->entries.erase(half, block->entries.end());
  measure(*block);
  measure(rest);
  blocks_.insert(block + 1, std::move(rest));
}

void TurnList::remove(Turn turn) {
  require(!blocks_.empty(), "job {} does not wait", turn.job.value);
  const auto block = block_of(turn);
  const auto at = std::lower_bound(block->entries.begin(), block->entries.end(), turn,
                                   [](const Entry& entry, Turn t) { return entry.turn < t; });
  require(at != block->entries.end() && at->turn == turn, "job {} does not wait", turn.job.value);
  const WallTime expected = at->expected;
  block->entries.erase(at);
  if (block->entries.empty()) {
    blocks_.erase(block);
  } else if (expected == block->least_expected) {
    measure(*block);
  }
}

}  // namespace athanor
