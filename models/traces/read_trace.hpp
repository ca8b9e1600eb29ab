#pragma once

#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

class FileReader;

/// Reads a trace. `patterns`: its files, or one with '*' in the place of the rank (trace_files.hpp). What is wrong is
/// added to `problems`, with the file, the rank and the node of the first of each kind and how many more there are;
/// then the result is not to be used. Throws FileError for files that cannot be read.
ImportedTrace read_trace(const FileReader& reader, const std::vector<std::string>& patterns,
                         const TraceOptions& options, Problems& problems);

/// The files of a trace in the order of their ranks. `patterns`: paths, as they are, or with one '*' in the place of
/// the rank ("run/llama.*.et"): ranks 0 to the last, of which none may be missing. Adds to `problems` what is not
/// there.
std::vector<std::string> trace_files(const std::vector<std::string>& patterns, Problems& problems);

/// By the beginning of the file, decompressed. Throws ScenarioError ("unknown-format") where it is none of those known,
/// FileError where it cannot be read.
TraceFormat format_of_file(const std::string& path);

}  // namespace athanor
