#include "tools/plot/temporary_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/error.hpp"

namespace athanor {

TemporaryFile::TemporaryFile(std::string_view ending) {
  // Made at once, and for nobody else: others may write into the folder, and lay a link under a name that they guess.
  path_ = (std::filesystem::temp_directory_path() / fmt::format("athanor-XXXXXX{}", ending)).string();
  const int descriptor = ::mkstemps(path_.data(), static_cast<int>(ending.size()));
  if (descriptor < 0) { throw FileError(fmt::format("cannot make {}: {}", path_, std::strerror(errno))); }
  ::close(descriptor);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) { std::filesystem::remove(path_, ignored); }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}

}  // namespace athanor
