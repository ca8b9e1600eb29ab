#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/units.hpp"

namespace athanor {

/// A file read from its beginning to its end, decompressed where it is gzip. Throws FileError where it cannot be opened
/// or read, and ScenarioError ("bad-gzip") where what is compressed is damaged or cut off, or ("too-large") where more
/// than `limit` comes out: a small file can be compressed from one that fills any memory.
class ByteSource {
 public:
  ByteSource(std::string path, Bytes limit);
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
  [[noreturn]] void refuse_size() const;
  std::optional<std::size_t> bytes_left();

  std::string path_;
  std::size_t left_;  ///< bytes that may still come
  Bytes limit_;
  void* file_ = nullptr;
};

}  // namespace athanor
