#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/traces/kineto/profile.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// For what a group of ranks is there, by the name that frameworks give it: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_dp".
Parallelism parallelism_of(std::string_view description);

/// The kind of collective that PyTorch calls by this name; none: it is a message, or unknown.
std::optional<CollectiveKind> kind_of_recorded(std::string_view name);

/// "BFloat16" and so on, as the profiler spells types; 8-bit floating-point types are taken as bytes.
std::optional<DataType> recorded_type(std::string_view name);

/// Why a text such as "[0, 1, ...]" is no list of ranks: they go from 0 to kMostTraceRanks - 1, and each stands once.
/// "": it is one, or an empty one or something else that names no ranks.
std::string fault_of_ranks(std::string_view text);

/// "[0, 1, 2]". None: no such list, or one that is cut ("...").
std::optional<std::vector<std::uint32_t>> rank_list(std::string_view text);

/// Groups of the same shape that fill all of `world` ranks: where ranks go up in equal steps, [0, 2] of 8 is one of
/// [0, 2], [1, 3], [4, 6], [5, 7]. Else the group alone.
EndpointGroups same_groups(const std::vector<std::uint32_t>& ranks, std::uint32_t world);

/// What recorded calls of NCCL ask for, on the communicators of the draft.
class RecordedCalls {
 public:
  /// `alone`: the profile of one rank, which stands for all of `world`.
  RecordedCalls(const GpuProfile& profile, std::uint32_t rank, std::uint32_t world, bool alone, WorkloadDraft& draft)
      : profile_(profile), rank_(rank), world_(world), alone_(alone), draft_(draft) {}

  /// The collective or message; none: it cannot be simulated and `why` says so. Throws ScenarioError with the event
  /// whose group or root is beyond the ranks that there are.
  std::optional<Workload::Operation> operation(const RecordedCollective& recorded, std::string& why);

 private:
  [[noreturn]] void refuse(const RecordedCollective& recorded, const std::string& what, std::string hint) const;
  void check_elements(const RecordedCollective& recorded, std::int64_t elements) const;
  std::uint32_t root_of(const RecordedCollective& recorded, std::uint32_t communicator) const;
  std::optional<std::vector<std::uint32_t>> ranks_of(const RecordedCollective& recorded) const;
  std::optional<std::uint32_t> communicator_of(const RecordedCollective& recorded);
  std::optional<Workload::Operation> message(const RecordedCollective& recorded, std::string& why);

  const GpuProfile& profile_;
  std::uint32_t rank_;
  std::uint32_t world_;
  bool alone_;
  WorkloadDraft& draft_;
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> known_;
};

}  // namespace athanor
