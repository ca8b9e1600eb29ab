#pragma once

#include <string>
#include <string_view>

#include "tools/command_line/command.hpp"

namespace athanor {

/// Throws FileError when `path` cannot be made or written: asked before hours of simulation. Creates nothing.
void check_writable(const std::string& path);

/// Replaces the file's content. Throws FileError.
void write_text_file(const std::string& path, std::string_view text);

/// A JSON document on stdout, or in the file that --json=FILE names.
void write_json(const Invocation& invocation, const Streams& streams, const std::string& text);

}  // namespace athanor
