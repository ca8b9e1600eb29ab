#pragma once

#include <cstdint>
#include <vector>

#include "models/training/pipeline/schedule.hpp"

namespace athanor {

using PipelineOrder = std::vector<PipelineTask>;

/// What one stage does in order, by schedule. Requires numbers that fit, as pipeline_schedule() checks them.
PipelineOrder gpipe_order(std::uint32_t micro_batches);
PipelineOrder one_f_one_b_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage);
PipelineOrder interleaved_order(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches,
                                std::uint32_t stage);
/// `depth`: 1 for H1, 2 for H2.
PipelineOrder zero_bubble_order(std::uint32_t depth, std::uint32_t stages, std::uint32_t micro_batches,
                                std::uint32_t stage);
PipelineOrder zero_bubble_v_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage);
PipelineOrder dual_pipe_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage);

}  // namespace athanor
