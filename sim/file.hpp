#pragma once

#include <cstdint>
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

/// The files that this process reads from its construction to its destruction, whichever thread reads them. There is
/// one such log at a time.
class ReadLog {
 public:
  ReadLog();
  ~ReadLog();
  ReadLog(const ReadLog&) = delete;
  ReadLog& operator=(const ReadLog&) = delete;

  /// Each path once, as it was first, in alphabetical order.
  std::vector<ReadFile> files() const;
};

/// What a regular file is now. Throws FileError where there is none.
ReadFile file_state(const std::string& path);
/// Tells the log, where there is one, that a file is read. read_text_file() does so itself; for who reads otherwise.
/// What is no regular file (a pipe) cannot be read again, and is not logged.
void note_read(const std::string& path);

}  // namespace athanor
