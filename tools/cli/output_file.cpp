#include "tools/cli/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/error.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw FileError(fmt::format("cannot write {}: {}", path, reason));
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code ignored;
  const files::path parent = files::path(path).has_parent_path() ? files::path(path).parent_path() : ".";
  if (files::is_directory(path, ignored)) { refuse(path, "it is a directory"); }
  if (!files::is_directory(parent, ignored)) { refuse(path, "there is no directory " + parent.string()); }
  const std::string target = files::exists(path, ignored) ? path : parent.string();
  if (access(target.c_str(), W_OK) != 0) { refuse(path, std::strerror(errno)); }
}

void write_json(const Invocation& invocation, const Streams& streams, const std::string& text) {
  const std::string path = invocation.has("json") ? invocation.text("json") : "";
  if (path.empty()) {
    streams.out(text + "\n");
  } else {
    write_text_file(path, text + "\n");
  }
}

}  // namespace athanor
