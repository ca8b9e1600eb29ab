#pragma once

#include <string>
#include <vector>

#include "sim/error.hpp"
#include "tools/cli/exit_code.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// How errors reach the user: always as text with the line of the file that is meant, and as JSON on stdout where the
/// command line asks for JSON.
struct ErrorReport {
  const Streams& streams;
  const std::vector<std::string>& arguments;

  /// Prints all of them, at least one, and returns `code`.
  ExitCode end(ExitCode code, const std::vector<Problem>& problems) const;
};

/// The line of the file that a place names, and a mark under its column; "" where there is none to show.
std::string excerpt(const Place& place);

/// The first fifty problems, each with its excerpt, and how many there are where that is more than one.
void print_problems(const Streams& streams, const std::vector<Problem>& problems);

}  // namespace athanor
