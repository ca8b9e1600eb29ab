#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace athanor {

/// What a micro-batch's pass through a chunk of layers writes, in turns: each ends where it sends its tokens to
/// experts, or their results back, and would wait for them. Another pass takes its turn meanwhile.
class PassTurns {
 public:
  void then(std::function<void()> write) { turns_.back().push_back(std::move(write)); }
  void end_turn() { turns_.emplace_back(); }

  /// Writes all of it.
  void write() const {
    for (std::size_t turn = 0; turn < turns_.size(); ++turn) { write(turn); }
  }
  /// Writes both, turn by turn.
  static void write_by_turns(const PassTurns& first, const PassTurns& second) {
    for (std::size_t turn = 0; turn < first.turns_.size() || turn < second.turns_.size(); ++turn) {
      first.write(turn);
      second.write(turn);
    }
  }

 private:
  void write(std::size_t turn) const {
    if (turn >= turns_.size()) { return; }
    for (const std::function<void()>& each : turns_[turn]) { each(); }
  }

  std::vector<std::vector<std::function<void()>>> turns_{1};
};

}  // namespace athanor
