#pragma once

#include <string>
#include <vector>

namespace athanor {

/// What a process did. status: its exit code, or 128 + the signal that ended it; 127 when it could not be started.
struct Finished {
  int status = 0;
  std::string out;
  std::string err;
};

/// Runs a program (looked up in PATH) to its end, with nothing to read.
Finished run_process(const std::vector<std::string>& command);

/// A Python that can import `module`: the one that ATHANOR_PYTHON names, or else the first of python3 and
/// /usr/bin/python3. Throws FileError, saying what to install, when there is none.
std::string python_with(const std::string& module);

}  // namespace athanor
