#include "models/experiments/scenario/training_notes.hpp"

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace athanor {

void note_limit(const GpuRates& gpu, Training& training) {
  if (gpu.limited_from_w == 0) { return; }
  constexpr double kMeasured = 0.5;  // of the most that it draws
  const std::string_view how = gpu.clock == 1 ? "at the rates that the scenario gives"
                               : gpu.power_w < kMeasured * gpu.limited_from_w
                                   ? "by a law of the clock that was measured down to half of the most"
                                   : "by a law of the clock";
  training.notes.push_back(
      fmt::format("{} is limited to {:g} W of {:g} W: products and attention run at {:.3g} of the "
                  "rates without a limit, {}",
                  gpu.name, gpu.power_w, gpu.limited_from_w, gpu.clock, how));
}

void note_process(Training& training) {
  const TrainingSetup& setup = training.setup;
  if (!setup.plan.has_one_process()) { return; }
  const bool known = setup.model.transformer || setup.model.input > 0;
  const std::string inputs =
      !known ? "inputs cost nothing, since the model does not say their size (\"input\")"
      : setup.gpu.host_bandwidth == 0
          ? "inputs cost nothing, since nothing says how GPUs reach their host"
          : fmt::format("each GPU copies its share of the inputs from pinned memory of the host, {:.1f} GB/s",
                        setup.gpu.host_bandwidth * 1e-9);
  const char* const alone =
      setup.model.transformer ? "the loss of all outputs and the optimizer run" : "the optimizer runs";
  training.notes.push_back(fmt::format("one process: {}; {} on GPU 0 alone, while the others wait", inputs, alone));
}

void note_vocabulary(const ParallelPlan& plan, Training& training) {
  const auto& transformer = training.setup.model.transformer;
  constexpr std::uint32_t kRow = 8;  // elements of 16 bits in 16 bytes
  if (!transformer || transformer->vocabulary % kRow == 0 || plan.tensor > 1) { return; }
  constexpr std::uint32_t kPadded = 128;  // as Megatron-LM pads, unless told otherwise
  training.notes.push_back(fmt::format(
      "{} logits are no whole 16 bytes: their products run at a fifth of the rate; of software that pads them write "
      "\"vocabulary\": {}",
      transformer->vocabulary, (transformer->vocabulary + kPadded - 1) / kPadded * kPadded));
}

}  // namespace athanor
