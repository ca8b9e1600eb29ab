#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace athanor {

/// A file that is there as a whole or not at all: it is written under another name in the same folder, and takes the
/// place of what was there when it is finished. Until then, and where the disk is full or the process ends, the old
/// file stays. What is no regular file (a pipe, /dev/null), or lies in a folder that one may not write into, is
/// written as it is. A link stays a link. All throw FileError.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  /// Takes away what was not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  void write(std::string_view text);
  /// Requires that it is not finished. Nothing may be written afterwards.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void refuse(int mistake);

  std::string path_;    ///< as it was named
  std::string target_;  ///< where links lead
  std::string beside_;  ///< what is written; "": the target itself
  std::unique_ptr<std::FILE, Close> file_;
};

/// Replaces the file's content, or leaves it as it was.
void write_text_file(const std::string& path, std::string_view text);

/// A new, empty file with a name of its own in the folder of `path`: for who writes it with a library. Throws
/// FileError.
std::string new_file_beside(const std::string& path);

}  // namespace athanor
