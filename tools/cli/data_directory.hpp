#pragma once

#include <string>

namespace athanor {

/// The folder with presets/, profiles/ and measurements/: the first that exists of ATHANOR_DATA, the share directory
/// that belongs to this executable, the source tree that it was built in, and the installed share directory.
/// Throws FileError where none does, naming all.
std::string data_directory();

}  // namespace athanor
