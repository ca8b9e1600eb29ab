#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/wall_time.hpp"

namespace athanor {

/// GPUs of a list of trackable resources.
struct TresGpus {
  std::int64_t count = 0;
  std::string_view type;  ///< "": none is named, or several are
};

/// "billing=8,cpu=8,gres/gpu=8,gres/gpu:h100=8,node=1"; none where a count is none.
std::optional<TresGpus> tres_gpus_of(std::string_view tres);

/// "2-03:04:05", "03:04:05", "04:05", also with parts of a second; none for all else ("UNLIMITED", "").
std::optional<WallTime> slurm_span_of(std::string_view text);

/// Its end is not known, for it is not there yet: PENDING, RUNNING, SUSPENDED and the like.
bool is_open_state(std::string_view state);

}  // namespace athanor
