#pragma once

namespace athanor {

/// How every command ends, for scripts. Stable.
enum class ExitCode : int {
  ok = 0,
  simulation_failed = 1,  ///< or a defect of the program itself
  usage = 2,
  scenario_invalid = 3,
  input_output = 4,
  above_threshold = 5,
  does_not_fit = 6,  ///< into memory, where --strict was given
  interrupted = 130,
};

}  // namespace athanor
