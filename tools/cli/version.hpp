#pragma once

#include <string>

namespace athanor {

/// "0.1.0".
std::string version();
/// The commit that was built, with "-dirty" where it had changes; "unknown" outside of a clone.
std::string git_revision();
/// "athanor 0.1.0 (9d770d4270db)".
std::string program_version();
/// "GCC 12.2.0".
std::string compiler();
/// "release; MPI 3.1, no CUDA, protobuf 3.21.12, ...": how it was built, and with what.
std::string build_facts();

}  // namespace athanor
