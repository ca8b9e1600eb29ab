#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "models/workload/collective_matcher.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Which operations of one worker may run. The order of an ordered stream is a dependency like any other.
class Program {
 public:
  /// Borrows the worker.
  explicit Program(const Workload::Worker& worker);

  const Workload::Operation& operation(std::uint32_t number) const { return worker_.operations[number]; }

  /// What may run at the beginning, in the order of the program.
  std::vector<std::uint32_t> first();
  /// Appends what may run now that an operation has ended, in the order of the program.
  void end(std::uint32_t number, std::vector<std::uint32_t>& released);

  std::uint32_t left() const { return left_; }
  bool released(std::uint32_t number) const { return waiting_[number] == 0; }
  bool ended(std::uint32_t number) const { return waiting_[number] == kEnded; }

 private:
  static constexpr std::uint32_t kEnded = UINT32_MAX;
  using Ready = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

  template <class See>
  void for_each_dependency(See see) const;
  bool may_start(std::uint32_t number);

  const Workload::Worker& worker_;
  std::vector<std::uint32_t> waiting_;          ///< by operation: dependencies that have not ended; kEnded: it has
  std::vector<std::uint32_t> first_successor_;  ///< by operation, into successors_; one more at the end
  std::vector<std::uint32_t> successors_;
  std::vector<Ready> ready_;  ///< by stream: what waits for an unordered one to be free
  std::vector<bool> busy_;    ///< by stream: an unordered one has something to do
  std::uint32_t left_ = 0;
};

/// Who waits for whom in a workload that cannot go on. Requires that some program has operations left.
std::string describe_stuck(const Workload& workload, const std::vector<std::unique_ptr<Program>>& programs,
                           const CollectiveMatcher& meetings);

}  // namespace athanor
