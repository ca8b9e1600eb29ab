#pragma once

#include <cstddef>
#include <string>

namespace athanor {

/// A file read from its beginning to its end, decompressed where it is gzip. Throws FileError where it cannot be opened
/// or read, and ScenarioError ("bad-gzip") where what is compressed is damaged or cut off.
class ByteSource {
 public:
  explicit ByteSource(std::string path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// As many bytes as there are, up to `size`; 0: the end.
  std::size_t read(char* target, std::size_t size);
  /// All that is left.
  std::string rest();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::string path_;
  void* file_ = nullptr;
};

}  // namespace athanor
