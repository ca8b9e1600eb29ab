#pragma once

#include <string>

namespace athanor {

/// All bytes of a file. Throws FileError when it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace athanor
