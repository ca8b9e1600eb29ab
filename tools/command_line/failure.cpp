#include "tools/command_line/failure.hpp"

#include <new>
#include <stdexcept>

namespace athanor {

Failure current_failure() {
  try {
    throw;
  } catch (const ScenarioError& error) {
    return {ExitCode::scenario_invalid, error.problems()};
  } catch (const UsageError& error) {
    return {ExitCode::usage, {{"usage", error.what(), {}, ""}}};
  } catch (const FileError& error) {
    return {ExitCode::input_output, {{"input-output", error.what(), {}, ""}}};
  } catch (const SimulationError& error) {
    return {ExitCode::simulation_failed, {{error.code(), error.what(), {}, ""}}};
  } catch (const std::bad_alloc&) {
    return {ExitCode::simulation_failed,
            {{"out-of-memory", "not enough memory for this simulation", {}, "simulate fewer ranks"}}};
  } catch (const std::logic_error& error) {
    return {ExitCode::simulation_failed,
            {{"defect", error.what(), {}, "this is a defect of athanor, please report it with the scenario"}}};
  }
}

}  // namespace athanor
