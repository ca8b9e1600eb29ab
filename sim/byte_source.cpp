#include "sim/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/core.h>
#include <zlib.h>

#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr unsigned kBuffered = 1U << 18U;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;

}  // namespace

ByteSource::ByteSource(std::string path, Bytes limit)
    : path_(std::move(path)), left_(static_cast<std::size_t>(limit.count())), limit_(limit) {
  if (std::filesystem::is_directory(path_)) { throw FileError(fmt::format("cannot read {}: it is a folder", path_)); }
  gzFile file = gzopen(path_.c_str(), "rb");
  if (file == nullptr) { throw FileError(fmt::format("cannot read {}: {}", path_, std::strerror(errno))); }
  gzbuffer(file, kBuffered);
  file_ = file;
}

ByteSource::~ByteSource() { gzclose(static_cast<gzFile>(file_)); }

std::size_t ByteSource::read(char* target, std::size_t size) {
  const auto file = static_cast<gzFile>(file_);
  const int count = gzread(file, target, static_cast<unsigned>(std::min(size, kMostAtOnce)));
  int error = Z_OK;
  const char* text = gzerror(file, &error);
  if (error == Z_ERRNO) { throw FileError(fmt::format("cannot read {}: {}", path_, std::strerror(errno))); }
  if (count < 0 || error == Z_BUF_ERROR) { fail(text); }
  if (static_cast<std::size_t>(count) > left_) { refuse_size(); }
  left_ -= static_cast<std::size_t>(count);
  return static_cast<std::size_t>(count);
}

/// Decompressed once to count what comes out and once to keep it: a text that grows while it is read would need twice
/// its memory in between. None: a pipe, which can be read once.
std::optional<std::size_t> ByteSource::bytes_left() {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path_, unknown)) { return std::nullopt; }
  const auto file = static_cast<gzFile>(file_);
  const z_off_t here = gztell(file);
  const std::size_t allowed = left_;
  std::vector<char> buffer(kBuffered);
  while (read(buffer.data(), buffer.size()) > 0) {}
  const std::size_t bytes = allowed - left_;
  left_ = allowed;
  if (gzseek(file, here, SEEK_SET) != here) { throw FileError(fmt::format("cannot read {} twice", path_)); }
  return bytes;
}

std::string ByteSource::rest() {
  std::string text;
  if (const std::optional<std::size_t> bytes = bytes_left()) {
    text.resize(*bytes);
    for (std::size_t filled = 0, count = 1; filled < *bytes && count > 0; filled += count) {
      count = read(text.data() + filled, *bytes - filled);
    }
    return text;
  }
  std::size_t filled = 0;
  for (;;) {
    text.resize(filled + kBuffered * (filled < 8 * kBuffered ? 1 : 16));
    const std::size_t count = read(text.data() + filled, text.size() - filled);
    filled += count;
    if (count == 0) { break; }
  }
  text.resize(filled);
  return text;
}

void ByteSource::fail(const std::string& reason) const {
  throw ScenarioError(Problem{"bad-gzip",
                              fmt::format("what is compressed in this file cannot be read: {}", reason),
                              {path_, 0, 0, ""},
                              "was it cut off while being written or copied?"});
}

void ByteSource::refuse_size() const {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path_, unknown);
  const bool grew = !unknown && bytes < static_cast<std::uintmax_t>(limit_.count());
  throw ScenarioError(Problem{"too-large",
                              grew ? fmt::format("more than {} come out of the {} of this file when it is decompressed",
                                                 to_string(limit_), to_string(Bytes{static_cast<std::int64_t>(bytes)}))
                                   : fmt::format("this file is larger than {}", to_string(limit_)),
                              {path_, 0, 0, ""},
                              R"(where that is right, allow more: "limit": "8GiB")"});
}

}  // namespace athanor
