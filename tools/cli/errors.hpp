#pragma once

#include <exception>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "tools/cli/exit_code.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// What an exception means to users.
struct Failure {
  ExitCode code = ExitCode::simulation_failed;
  std::vector<Problem> problems;  ///< at least one
};

/// Of the exception that is being handled: user errors as they are, lack of memory, and defects of athanor itself.
/// Throws on what is none of these. Requires to be called within a catch block.
Failure current_failure();

/// How a process ends that does not say why, where several do the same and one of them speaks: with the code of that
/// one. Null: only the one that writes has failed.
ExitCode silent_end(const std::exception_ptr& error);

/// The line of the file that a place names, and a mark under its column; "" where there is none to show.
std::string excerpt(const SourceLocation& place);

/// The first fifty problems, each with its excerpt, and how many there are where that is more than one.
void print_problems(const Streams& streams, const std::vector<Problem>& problems);

/// How errors reach the user: always as text with the line of the file that is meant, and as JSON on stdout where the
/// command line asks for JSON.
struct ErrorReport {
  const Streams& streams;
  const std::vector<std::string>& arguments;

  /// Prints all of them, at least one, and returns `code`.
  ExitCode end(ExitCode code, const std::vector<Problem>& problems) const;
};

}  // namespace athanor
