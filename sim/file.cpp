#include "sim/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

ReadFile file_state(const std::string& path) {
  std::error_code mistake;
  ReadFile file{.path = path, .bytes = std::filesystem::file_size(path, mistake)};
  if (!mistake) { file.modified = std::filesystem::last_write_time(path, mistake).time_since_epoch().count(); }
  if (mistake) { throw FileError(fmt::format("cannot read '{}': {}", path, mistake.message())); }
  return file;
}

/// No text that people or programs write for us is as long; a device or a pipe may have no end.
constexpr std::size_t kMostText = std::size_t{1} << 30U;

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) { throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno))); }
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

struct FileReader::Log {
  std::mutex mutex;
  std::map<std::string, ReadFile> files;
};

FileReader::FileReader() : log_(std::make_shared<Log>()) {}

FileReader FileReader::in(const std::string& folder) const {
  FileReader reader = *this;
  reader.folder_ = folder;
  return reader;
}

std::string FileReader::path(const std::string& name) const { return (std::filesystem::path(folder_) / name).string(); }

std::string FileReader::text(const std::string& name) const {
  note(name);  // as it is before: what changes meanwhile has changed
  return read_text_file(path(name));
}

void FileReader::note(const std::string& name) const {
  const std::string where = path(name);
  const std::lock_guard lock(log_->mutex);
  if (log_->files.contains(where) || !std::filesystem::is_regular_file(where)) { return; }
  log_->files.emplace(where, file_state(where));
}

std::vector<ReadFile> FileReader::files() const {
  const std::lock_guard lock(log_->mutex);
  std::vector<ReadFile> files;
  for (const auto& [path, file] : log_->files) { files.push_back(file); }
  return files;
}

}  // namespace athanor
