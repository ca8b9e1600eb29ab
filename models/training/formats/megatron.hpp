#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// What a command line of Megatron-LM trains, and how.
struct MegatronRun {
  Transformer model;
  ParallelPlan plan;
  std::uint32_t ranks = 0;           ///< as torchrun's --nnodes and --nproc-per-node say; 0: unknown, plan.data is 1
  std::vector<std::string> ignored;  ///< arguments that change nothing here, as they were written
};

/// Reads the arguments of pretrain_gpt.py (Megatron-Core 0.8 to 0.14, megatron/training/arguments.py): "--num-layers 32
/// --swiglu", with blanks, line ends (also "\" before them) or "=" between, '#' comments to the end of a line, and
/// words before the first argument (torchrun ... pretrain_gpt.py) left out. Throws UsageError for values that are
/// missing, no numbers, or contradict each other.
MegatronRun read_megatron_arguments(std::string_view text);

}  // namespace athanor
