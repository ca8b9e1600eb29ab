#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/logs/job_log.hpp"

namespace athanor {

class Fields;
class FileReader;

/// A form in which others write down jobs. Each is a file of its own in this folder, which holds its keys, how it is
/// read and its words, and a line in catalog.cpp.
class LogFormat {
 public:
  virtual ~LogFormat() = default;
  /// Declares its keys beside "file", "format" and the selection.
  virtual void visit(Fields& /*fields*/) {}
  /// Adds the jobs of a file, and leaves out what it cannot use with a reason. `files` reads further files that belong
  /// to it. Throws FileError; ScenarioError for what is no such file at all.
  virtual void read(const std::string& path, const FileReader& files, JobLog& log) const = 0;
};

/// A format in the catalog.
struct LogFormatEntry {
  std::string_view name;
  std::string_view meaning;                        ///< one line
  std::shared_ptr<LogFormat> (*make)() = nullptr;  ///< with the defaults of all its keys
};

/// In the order of lists.
const std::vector<LogFormatEntry>& log_formats();

}  // namespace athanor
