#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "algorithms/proof/replay.hpp"

namespace athanor {

/// Follows who can know that whom has begun: a lane knows of its own agent, of what its messages bring and of what the
/// lanes know that it waits for. In a barrier every rank must know of every other when its last lane has ended.
/// Knowledge that comes from a slot becoming free does not count: another executor may have more slots.
class Knowledge : public Observer {
 public:
  Knowledge(const Schedule& schedule, const Wiring& wiring);

  void on_primitive(const Execution& execution) override;
  /// The first rank that may end without knowing of another.
  std::optional<Violation> ignorant() const;

 private:
  using Known = std::vector<bool>;

  static void merge(Known& into, const Known& from);

  const Wiring& wiring_;
  std::uint32_t ranks_;
  std::vector<Known> known_;                 ///< by each lane now
  std::vector<std::vector<Known>> history_;  ///< by each lane after each of its primitives
  std::vector<std::deque<Known>> messages_;  ///< on each connection
};

}  // namespace athanor
