#include "tools/cli/failure.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>

#include "sim/config/foreign.hpp"

namespace athanor {

namespace {

Failure defect(const char* what) {
  return {ExitCode::simulation_failed,
          {{"defect", what, {}, "this is a defect of athanor, please report it with the scenario"}}};
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const ScenarioError& error) {
    return {ExitCode::scenario_invalid, error.problems()};
  } catch (const UsageError& error) {
    return {ExitCode::usage, {{"usage", error.what(), {}, ""}}};
  } catch (const DocumentError& error) {
    return {ExitCode::input_output, error.problems()};
  } catch (const FileError& error) {
    return {ExitCode::input_output, {{"input-output", error.what(), {}, ""}}};
  } catch (const SimulationError& error) {
    return {ExitCode::simulation_failed, {{error.code(), error.what(), {}, ""}}};
  } catch (const std::bad_alloc&) {
    return {ExitCode::simulation_failed,
            {{"out-of-memory", "not enough memory for this simulation", {}, "simulate fewer ranks"}}};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::input_output, {{"input-output", error.what(), {}, ""}}};
  } catch (const std::exception& error) { return defect(error.what()); } catch (...) {
    return defect("an exception of an unknown kind");
  }
}

}  // namespace athanor
