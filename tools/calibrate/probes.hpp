#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What a calibration runs: one schedule of float32 on so many workers.
struct Probe {
  /// The fit is told of those of `fit`; those of `hold_out` only say how good it is.
  enum class Purpose : std::uint8_t { fit, hold_out };

  std::string name;  ///< unique: "copy 32 KiB x 64", "reduce_scatter ring 4 ranks 16 KiB"
  std::shared_ptr<const Schedule> schedule;
  std::uint32_t workers = 1;
  Purpose purpose = Purpose::fit;
};

/// The collectives that every calibration measures; all-reduce is left for verification.
constexpr CollectiveKind kProbedCollectives[] = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                                                 CollectiveKind::broadcast, CollectiveKind::reduce,
                                                 CollectiveKind::all_to_all};

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;

struct ProbeSettings {
  std::vector<std::uint32_t> ranks{2, 4, 8};  ///< of collectives
  std::uint32_t processors = 2;               ///< at least 1
  Bytes largest_copy = Bytes{256 << 20};      ///< working set, beyond all caches
};

/// Copies over growing working sets; streams, ping-pongs, exchanges and sleepers between two workers; and
/// reduce-scatter, all-gather, broadcast, reduce and all-to-all by all their algorithms: of 64 B on one worker, and
/// from 64 B to 16 MiB on all, every other size held out. Nothing is measured on all-reduce, which is left for
/// verification. With one processor nothing that needs two.
std::vector<Probe> probes(const ProbeSettings& settings);

}  // namespace athanor
