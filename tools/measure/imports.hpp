#pragma once

#include <string>
#include <vector>

#include "tools/measure/request.hpp"

namespace athanor {

/// Is a word of --algorithm a file in MSCCL's XML: "msccl:PATH", "PATH.xml"?
bool names_file(const std::string& word);

/// The files among `words`, each proven once. Throws FileError, ScenarioError with the file's lines for what is no
/// algorithm or a wrong one, and UsageError where two of the words mean algorithms of one name, which rows could not
/// tell apart.
MeasureRequest::Imports read_imports(const std::vector<std::string>& words);

/// Sizes up to 16 MiB, each twice the one before, that all imported algorithms can cut into their chunks of elements of
/// every type; without any: from 8 B on.
std::vector<Bytes> default_sizes(const MeasureRequest::Imports& imports);

/// Why the collective cannot be done in its place (in one buffer or two) by a schedule that was made for it: imported
/// ones know one place only, or both. Nothing where it can.
std::optional<std::string> refuses_place(const Schedule& schedule, const Collective& collective);

}  // namespace athanor
