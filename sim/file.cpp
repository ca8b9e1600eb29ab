#include "sim/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "sim/error.hpp"

namespace athanor {

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) { throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno))); }
  std::string text;
  char block[65536];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) { text.append(block, got); }
  if (std::ferror(file.get()) != 0) {
    throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  return text;
}

}  // namespace athanor
