#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;

/// The "trace" of a scenario: what ranks did somewhere, and how it is replayed.
struct TraceConfig {
  std::vector<std::string> files;  ///< as written
  TraceOptions options;
  std::shared_ptr<const ImportedTrace> trace;  ///< null: not read without a problem
};

/// Traces that were read, so that cases that differ in their cluster alone share one.
class TraceCache {
 public:
  /// Null: something is wrong with the files, and was added to `problems`. Throws FileError.
  std::shared_ptr<const ImportedTrace> read(const FileReader& reader, const std::vector<std::string>& names,
                                            const TraceOptions& options, Problems& problems);

 private:
  std::map<std::string, std::shared_ptr<const ImportedTrace>> traces_;  ///< by files and options
};

/// `files` reads what the section names, and `problems` takes what is wrong with the files that it names.
void visit(Fields& fields, const FileReader& files, TraceCache& cache, Problems& problems, TraceConfig& config);

class ExperimentReader;
std::unique_ptr<ExperimentReader> trace_reader();

}  // namespace athanor
