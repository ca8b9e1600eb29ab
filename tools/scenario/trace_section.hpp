#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/json/object_reader.hpp"
#include "tools/trace/trace_options.hpp"

namespace athanor {

/// The "trace" of a scenario: what ranks did somewhere, and how it is replayed.
struct TraceText {
  std::vector<std::string> files;  ///< as written
  TraceOptions options;
  std::shared_ptr<const ImportedTrace> trace;  ///< null: not read without a problem
};

/// `directory`: where paths in the section start. `problems` takes what is wrong with the files that it names.
void read(ObjectReader& reader, const std::string& directory, Problems& problems, TraceText& text);

}  // namespace athanor
