#pragma once

#include <string>
#include <string_view>

#include "sim/output_file.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

/// Throws FileError when `path` cannot be made or written: asked before hours of simulation. Creates nothing.
void check_writable(const std::string& path);

/// A JSON document on stdout, or in the file that --json=FILE names.
void write_json(const Invocation& invocation, const Streams& streams, const std::string& text);

}  // namespace athanor
