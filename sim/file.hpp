#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace athanor {

/// All bytes of a file. Throws FileError when it cannot be read.
std::string read_text_file(const std::string& path);

/// A file as it was when it was opened to be read.
struct ReadFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< ns, by the clock of the file system

  bool operator==(const ReadFile&) const = default;
};

/// What a regular file is now. Throws FileError where there is none.
ReadFile file_state(const std::string& path);

/// Reads files, and remembers which: what a result rests on. Copies remember together, and may be used by several
/// threads at once.
class FileReader {
 public:
  /// Relative names start in the working directory.
  FileReader();

  /// One that remembers together with this one, and whose relative names start in `folder`.
  FileReader in(const std::string& folder) const;
  /// Where a name leads.
  std::string path(const std::string& name) const;
  /// As read_text_file().
  std::string text(const std::string& name) const;
  /// Remembers a file that somebody else reads. What is no regular file (a pipe) cannot be read again, and is
  /// forgotten.
  void note(const std::string& name) const;
  /// All that were read: each path once, as it was first, in alphabetical order.
  std::vector<ReadFile> files() const;

 private:
  struct Log;

  std::string folder_;
  std::shared_ptr<Log> log_;
};

}  // namespace athanor
