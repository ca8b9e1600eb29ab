#include "tools/command_line/plot/temporary_file.hpp"

#include <atomic>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace athanor {

TemporaryFile::TemporaryFile(std::string_view ending) {
  static std::atomic<unsigned> number = 0;
  const std::string name = fmt::format("athanor-{}-{}{}", ::getpid(), number++, ending);
  path_ = (std::filesystem::temp_directory_path() / name).string();
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) { std::filesystem::remove(path_, ignored); }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}

}  // namespace athanor
