#pragma once

#include <string>
#include <string_view>

namespace athanor {

/// A name for a file of this process alone in the folder for temporary files; what is there at the end is removed.
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
