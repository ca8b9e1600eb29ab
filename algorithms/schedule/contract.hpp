#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// A range of one rank's output: element first + k is input element from + k of `origin`, or without an origin the
/// reduction of that input element over all ranks, each once.
struct Promise {
  Elements first;
  Elements count;
  std::optional<std::uint32_t> origin;
  Elements from;
};

/// What a collective promises, apart from how it is done: the sizes of the user's buffers and what each output element
/// holds at the end. Uneven all-to-all: the block for rank d is d's part of every input, and d's output holds the
/// blocks for it one after the other, in the order of their senders. Requires root < ranks.
class Contract {
 public:
  explicit Contract(const Collective& collective) : collective_(collective) {}

  Elements input(std::uint32_t rank) const;
  Elements output(std::uint32_t rank) const;
  /// Does the collective say what this rank's output holds? (Only the root's in a reduce or gather.)
  bool promises(std::uint32_t rank) const;
  /// Covers output(rank) without overlap where promises(rank), ascending.
  std::vector<Promise> promised(std::uint32_t rank) const;
  /// Are results finished (averaged)? Each contribution exactly once where so, never elsewhere.
  bool finished() const { return reduces(collective_.kind); }
  /// Where an input lies in the output if the two share memory; empty: this collective is not done in place.
  std::optional<Elements> in_place(std::uint32_t rank) const;

  /// May no rank end before every rank has begun?
  bool synchronises() const { return collective_.kind == CollectiveKind::barrier; }

 private:
  std::vector<Promise> exchanged(std::uint32_t rank) const;
  std::uint32_t receiver() const { return (collective_.root + 1) % collective_.ranks; }

  Collective collective_;
};

/// The user's buffers of one rank, which every algorithm of the collective has alike: no scratch. They share memory
/// where the collective is done in place and gives the rank both.
Memory user_memory(const Collective& collective, std::uint32_t rank);

}  // namespace athanor
