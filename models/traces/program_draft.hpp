#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/traces/workload_draft.hpp"

namespace athanor {

/// The program of one rank while its file is being read: operations by the ids that the file gives them, which may
/// depend on others that come later in the file.
class ProgramDraft {
 public:
  ProgramDraft(std::string file, std::string name) : file_(std::move(file)) { worker_.name = std::move(name); }

  /// The stream of that name, which is made where there is none. `host`: of a CPU.
  std::uint16_t stream(std::string_view name, bool ordered, bool host = false);

  void add(std::uint64_t node, const Workload::Operation& operation);
  /// What was added last starts after `node` has ended.
  void depends(std::uint64_t node) { wanted_.push_back(node); }

  std::size_t size() const { return worker_.operations.size(); }
  const std::string& file() const { return file_; }
  Workload::Worker& worker() { return worker_; }

  /// Puts the program into the workload as its next worker, in the order of the file, but every operation after those
  /// that it depends on. Complains of ids that stand twice or are absent (or drops these dependencies and notes it),
  /// and of circles.
  void finish(WorkloadDraft& draft, bool drop_absent) &&;

 private:
  using Index = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

  Index index_of_nodes(WorkloadDraft& draft) const;
  void resolve(WorkloadDraft& draft, const Index& index, bool drop_absent);
  /// Empty: the file has this order already, or there is a circle, of which the draft then complains.
  std::vector<std::uint32_t> order(WorkloadDraft& draft) const;
  void reorder(const std::vector<std::uint32_t>& order);
  void complain_of_circle(WorkloadDraft& draft, const std::vector<std::uint32_t>& waiting) const;
  std::string text_of(const WorkloadDraft& draft, std::uint32_t operation) const;

  std::string file_;
  Workload::Worker worker_;
  std::map<std::string, std::uint16_t, std::less<>> streams_;
  std::vector<std::uint64_t> nodes_;   ///< by operation
  std::vector<std::uint64_t> wanted_;  ///< ids, as Operation::first_dependency counts
};

/// Streams for operations that all run side by side once they may, such as posted messages: each goes behind one that
/// it waits for anyway, or to a stream of its own.
class SideBySide {
 public:
  /// `named`: "send", of which streams become "send 1", "send 2", ...
  SideBySide(ProgramDraft& program, std::string named) : program_(program), named_(std::move(named)) {}

  /// A stream for operation `index`, whose dependencies are `before`; all are counted in the order of the program.
  template <class Dependencies>
  std::uint16_t stream_for(std::uint32_t index, const Dependencies& before) {
    for (const auto operation : before) {
      const auto last = last_.find(static_cast<std::uint32_t>(operation));
      if (last == last_.end()) { continue; }
      const std::uint16_t stream = last->second;
      last_.erase(last);
      last_.emplace(index, stream);
      return stream;
    }
    const std::uint16_t stream = program_.stream(named_ + " " + std::to_string(++opened_), true);
    last_.emplace(index, stream);
    return stream;
  }

 private:
  ProgramDraft& program_;
  std::string named_;
  std::uint32_t opened_ = 0;
  std::unordered_map<std::uint32_t, std::uint16_t> last_;  ///< of each stream, by its last operation
};

}  // namespace athanor
