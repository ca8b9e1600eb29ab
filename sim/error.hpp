#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace athanor {

/// Where in a user's file something stands. Lines and columns count from 1; 0: unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  std::string pointer;  ///< JSON pointer (RFC 6901), "" for the document itself
};

/// One thing that the user has to change.
struct Problem {
  std::string code;  ///< stable, for scripts: "unknown-key", "missing-unit", ...
  std::string message;
  SourceLocation place;
  std::string hint;  ///< what to write instead, or ""
};

/// "file:line:column: message (at /pointer); hint", the form in which every problem is printed.
std::string describe(const Problem& problem);

/// An input that cannot be used (exit code 3). Holds all problems that were found, at least one.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Problem> problems);
  explicit ScenarioError(Problem problem);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// The simulation cannot be carried out or does not end (exit code 1): deadlock, no route, time overflow.
class SimulationError : public std::runtime_error {
 public:
  SimulationError(std::string code, const std::string& message) : std::runtime_error(message), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

/// Whoever asked for a simulation asked it to stop: nobody's mistake, and there is no result.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("the simulation was interrupted") {}
};

/// A wrong command line (exit code 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or written (exit code 4).
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The candidate nearest to `word` by edit distance, or "" when none is near enough to be a slip of the finger.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace athanor
