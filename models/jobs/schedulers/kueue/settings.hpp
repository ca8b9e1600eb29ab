#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

class Fields;

enum class KueueStrategy : std::uint8_t { best_effort_fifo, strict_fifo };
/// Whose quota a job takes away.
enum class KueuePreempt : std::uint8_t { never, lower_priority, any };
/// What follows where a flavor takes a job only by borrowing, or by preempting.
enum class KueueFungibility : std::uint8_t { stop, try_next_flavor };

/// What a ClusterQueue has, in GPUs.
struct KueueQuota {
  std::uint32_t nominal = 0;
  std::optional<std::uint32_t> borrowing_limit;  ///< beyond it; none: all of the cohort
  std::optional<std::uint32_t> lending_limit;    ///< of it; none: all
};

/// A quota of GPUs of some types.
struct KueueFlavor {
  std::vector<std::string> gpu_types;  ///< sorted, each once; empty: any
  KueueQuota quota;
};

struct KueueQueue {
  std::string name;
  std::optional<std::uint32_t> nominal_quota;  ///< as written, of GPUs of any type; or ...
  KueueQuota limits;
  std::vector<KueueFlavor> flavors;  ///< ... these, in the order in which they are tried
  std::string cohort;                ///< "": none
  KueueStrategy strategy = KueueStrategy::best_effort_fifo;
  KueuePreempt within_cluster_queue = KueuePreempt::never;
  KueuePreempt reclaim_within_cohort = KueuePreempt::never;
  KueueFungibility when_can_borrow = KueueFungibility::stop;
  KueueFungibility when_can_preempt = KueueFungibility::try_next_flavor;
};
void visit(Fields& fields, KueueQueue& queue);
/// Its flavors, no two of equal types; without any, one of all GPUs.
std::vector<KueueFlavor> flavors_of(const KueueQueue& queue);

}  // namespace athanor
