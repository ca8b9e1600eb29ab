#include "sim/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// What the one log holds. Of the process, as the files are: whoever reads one does not know for whom.
struct Logged {
  std::mutex mutex;
  bool wanted = false;
  std::map<std::string, ReadFile> files;
};

Logged& logged() {
  static Logged instance;
  return instance;
}

}  // namespace

ReadLog::ReadLog() {
  const std::lock_guard lock(logged().mutex);
  require(!logged().wanted, "a second log of the files that are read");
  logged().wanted = true;
}

ReadLog::~ReadLog() {
  const std::lock_guard lock(logged().mutex);
  logged().wanted = false;
  logged().files.clear();
}

std::vector<ReadFile> ReadLog::files() const {
  const std::lock_guard lock(logged().mutex);
  std::vector<ReadFile> files;
  for (const auto& [path, file] : logged().files) { files.push_back(file); }
  return files;
}

ReadFile file_state(const std::string& path) {
  std::error_code mistake;
  ReadFile file{.path = path, .bytes = std::filesystem::file_size(path, mistake)};
  if (!mistake) { file.modified = std::filesystem::last_write_time(path, mistake).time_since_epoch().count(); }
  if (mistake) { throw FileError(fmt::format("cannot read '{}': {}", path, mistake.message())); }
  return file;
}

void note_read(const std::string& path) {
  const std::lock_guard lock(logged().mutex);
  if (!logged().wanted || logged().files.contains(path) || !std::filesystem::is_regular_file(path)) { return; }
  logged().files.emplace(path, file_state(path));
}

/// No text that people or programs write for us is as long; a device or a pipe may have no end.
constexpr std::size_t kMostText = std::size_t{1} << 30U;

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) { throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno))); }
  note_read(path);
  std::string text;
  char block[65536];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) {
    if (text.size() + got > kMostText) {
      throw FileError(fmt::format("cannot read '{}': it is longer than 1 GiB", path));
    }
    text.append(block, got);
  }
  if (std::ferror(file.get()) != 0) {
    throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  return text;
}

}  // namespace athanor
