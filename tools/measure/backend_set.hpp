#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/measure/mpi_backend.hpp"

namespace athanor {

/// The backends of one run, by their names, in the order of naming. With MPI among them the others run beside it: in
/// process 0, while the other processes sleep.
class BackendSet {
 public:
  /// `workers`: of the threads backend. Throws UsageError for a name that is none, or twice there, and what the makers
  /// of backends throw.
  BackendSet(const std::vector<std::string>& names, std::optional<std::uint32_t> workers);

  const std::vector<Backend*>& all() const { return all_; }
  /// Does this process print and write?
  bool speaks() const { return all_.front()->speaks(); }
  /// True in every process where it is true in one. To be called by all processes alike.
  bool any(bool here) { return all_.front()->any(here); }
  /// A fact of one of the backends; "" where none has it.
  std::string fact(const std::string& key) const;

 private:
  std::unique_ptr<MpiBackend> mpi_;  ///< outlives the others
  std::vector<std::unique_ptr<Backend>> others_;
  std::vector<Backend*> all_;
};

}  // namespace athanor
