#include "tools/cli/errors.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <span>
#include <stdexcept>

#include <fmt/core.h>

#include "sim/config/foreign.hpp"
#include "sim/file.hpp"
#include "sim/printable.hpp"
#include "tools/cli/machine_readable.hpp"

namespace athanor {

namespace {

constexpr std::size_t kWidestExcerpt = 120;
constexpr std::size_t kMostShown = 50;

/// Line `number`, from 1, of a text; "" past its end.
std::string line_of(const std::string& text, int number) {
  std::size_t first = 0;
  for (int line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n', first);
    if (end == std::string::npos) { return ""; }
    first = end + 1;
  }
  return text.substr(first, text.find('\n', first) - first);
}

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

std::string excerpt(const SourceLocation& place) {
  if (place.line <= 0 || place.column <= 0) { return ""; }
  std::string line;
  try {
    line = line_of(read_text_file(place.file), place.line);
  } catch (const FileError&) { return ""; }
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (printable(line) != line) { return ""; }  // escaped, its columns would not be those of the file
  const auto column = static_cast<std::size_t>(place.column);
  if (line.empty() || line.size() > kWidestExcerpt || column > line.size() + 1) { return ""; }
  return fmt::format("{:>6} | {}\n{:>6} | {:>{}}\n", place.line, line, "", "^", column);
}

void print_problems(const Streams& streams, const std::vector<Problem>& problems) {
  const std::size_t shown = std::min(problems.size(), kMostShown);
  for (const Problem& problem : std::span(problems).first(shown)) {
    complain(streams, describe(problem));
    streams.err(excerpt(problem.place));
  }
  if (shown < problems.size()) {
    streams.err(fmt::format("athanor: {} problems, of which these are the first {}\n", problems.size(), shown));
  } else if (shown > 1) {
    streams.err(fmt::format("athanor: {} problems\n", shown));
  }
}

ExitCode ErrorReport::end(ExitCode code, const std::vector<Problem>& problems) const {
  print_problems(streams, problems);
  if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
    streams.out(problems_json(problems));
  }
  return code;
}

}  // namespace athanor
