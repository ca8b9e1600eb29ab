#pragma once

#include <string>

namespace athanor {

/// "sha256:" and 64 hexadecimal digits, as sha256sum prints them.
std::string text_hash(const std::string& text);
/// The same of a file's bytes. Throws FileError when it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace athanor
