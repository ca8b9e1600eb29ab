#pragma once

#include <string>
#include <string_view>

namespace athanor {

/// An empty file of this process alone in the folder for temporary files, removed in the end.
class TemporaryFile {
 public:
  /// `ending`: with its dot.
  explicit TemporaryFile(std::string_view ending);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace athanor
