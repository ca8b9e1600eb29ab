#include "tools/cli/silent_end.hpp"

#include "sim/error.hpp"

namespace athanor {

ExitCode silent_end(const std::exception_ptr& error) {
  if (!error) { return ExitCode::input_output; }
  try {
    std::rethrow_exception(error);
  } catch (const ScenarioError&) { return ExitCode::scenario_invalid; } catch (const SimulationError&) {
    return ExitCode::simulation_failed;
  } catch (const FileError&) { return ExitCode::input_output; } catch (const std::exception&) {
    return ExitCode::usage;
  }
}

}  // namespace athanor
