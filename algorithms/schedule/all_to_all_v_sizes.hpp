#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// How much every rank sends to every other in an all-to-all-v: one table that all schedules of a collective share.
/// A rank's input holds its blocks in the order of their receivers, its output in the order of their senders.
class AllToAllVSizes {
 public:
  /// `sizes[from * ranks + to]`. Throws ScenarioError unless there are ranks * ranks of them, none negative.
  AllToAllVSizes(std::uint32_t ranks, const std::vector<Elements>& sizes);

  std::uint32_t ranks() const { return ranks_; }
  Elements size(std::uint32_t from, std::uint32_t to) const {
    return input_offset(from, to + 1) - input_offset(from, to);
  }
  /// Where the block lies in the input of `from` and in the output of `to`. Receiver or sender `ranks` is the end.
  Elements input_offset(std::uint32_t from, std::uint32_t to) const { return inputs_[place(from, to)]; }
  Elements output_offset(std::uint32_t from, std::uint32_t to) const { return outputs_[place(to, from)]; }
  Elements input(std::uint32_t rank) const { return input_offset(rank, ranks_); }
  Elements output(std::uint32_t rank) const { return output_offset(ranks_, rank); }
  /// The largest input or output of a rank.
  Elements largest() const { return largest_; }
  /// The most that a rank sends to others or receives from them.
  Elements exchanged() const { return exchanged_; }
  Elements largest_block() const { return largest_block_; }

 private:
  std::size_t place(std::uint32_t row, std::uint32_t column) const {
    return std::size_t{row} * (std::size_t{ranks_} + 1) + column;
  }

  std::uint32_t ranks_;
  std::vector<Elements> inputs_;   ///< by sender, then receiver
  std::vector<Elements> outputs_;  ///< by receiver, then sender
  Elements largest_;
  Elements exchanged_;
  Elements largest_block_;
};

}  // namespace athanor
