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

/// The words that begin a command of a Python that can import `module`: the one that ATHANOR_PYTHON names, or else the
/// first of python3 and /usr/bin/python3. A script and its arguments follow; nothing is imported from the working
/// directory. `isolated`: where the script isolated.py lies. Throws FileError, saying what to install, when there is
/// none.
std::vector<std::string> python_with(const std::string& module, const std::string& isolated);

}  // namespace athanor
