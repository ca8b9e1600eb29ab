#include "sim/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw FileError(fmt::format("cannot write {}: {}", path, reason));
}

/// The file itself where the path is a link, also to what does not exist yet.
std::string where_links_lead(const std::string& path) {
  files::path target(path);
  constexpr int kMostLinks = 40;  // as many as Linux follows
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code mistake;
    const files::path next = files::read_symlink(target, mistake);
    if (mistake) { return target.string(); }  // no link
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  fail(path, std::strerror(ELOOP));
}

/// Those of the old file; of a new one what the process gives to new files.
mode_t permissions_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) { return found.st_mode & 07777U; }
  const mode_t withheld = umask(0);
  umask(withheld);
  return 0666U & ~withheld;
}

/// Opens a new file beside the target, and names it.
int open_beside(const std::string& target, std::string& name) {
  const files::path path(target);
  const files::path folder = path.has_parent_path() ? path.parent_path() : files::path(".");
  name = (folder / fmt::format(".{}.XXXXXX", path.filename().string().substr(0, 200))).string();
  return mkostemp(name.data(), O_CLOEXEC);
}

bool is_regular_or_absent(const std::string& path) {
  std::error_code unknown;
  const files::file_status status = files::status(path, unknown);
  return status.type() == files::file_type::regular || status.type() == files::file_type::not_found;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(where_links_lead(path_)) {
  if (is_regular_or_absent(target_)) {
    const int descriptor = open_beside(target_, beside_);
    if (descriptor >= 0) {
      fchmod(descriptor, permissions_of(target_));
      file_.reset(fdopen(descriptor, "wb"));
      return;
    }
    beside_.clear();
    const bool stays_writable = (errno == EACCES || errno == EROFS || errno == EPERM) && files::exists(target_);
    if (!stays_writable) { refuse(errno); }
  }
  file_.reset(std::fopen(target_.c_str(), "wb"));
  if (!file_) { refuse(errno); }
}

OutputFile::~OutputFile() {
  file_.reset();
  if (!beside_.empty()) { unlink(beside_.c_str()); }
}

void OutputFile::refuse(int mistake) { fail(path_, std::strerror(mistake)); }

void OutputFile::write(std::string_view text) {
  require(file_ != nullptr, "'{}' is finished, and something is still written", path_);
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) { refuse(errno); }
}

void OutputFile::finish() {
  require(file_ != nullptr, "'{}' is finished twice", path_);
  // A rename may reach the disk before what was written: without this a lost machine leaves an empty file.
  const bool flushed = std::fflush(file_.get()) == 0 && (beside_.empty() || fsync(fileno(file_.get())) == 0);
  const int mistake = errno;
  const bool closed = std::fclose(file_.release()) == 0;
  if (!flushed || !closed) { refuse(flushed ? errno : mistake); }
  if (!beside_.empty() && std::rename(beside_.c_str(), target_.c_str()) != 0) { refuse(errno); }
  beside_.clear();
}

void write_text_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

std::string new_file_beside(const std::string& path) {
  std::string name;
  const int descriptor = open_beside(path, name);
  if (descriptor < 0) { fail(path, std::strerror(errno)); }
  fchmod(descriptor, permissions_of(path));
  close(descriptor);
  return name;
}

}  // namespace athanor
