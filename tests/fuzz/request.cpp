#include "tests/fuzz/request.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <fmt/core.h>
#include <unistd.h>

namespace athanor::fuzz {

namespace files = std::filesystem;

std::string Request::text(const std::string& name, const std::string& absent) const {
  const auto found = words.find(name);
  return found == words.end() ? absent : found->second;
}

std::uint64_t Request::number(const std::string& name, std::uint64_t absent) const {
  const std::string word = text(name, "");
  std::uint64_t value = absent;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (!word.empty() && (error != std::errc() || end != word.data() + word.size())) {
    throw std::runtime_error(fmt::format("--{} needs a whole number, not '{}'", name, word));
  }
  return value;
}

Request request_of(int count, char** words) {
  Request request;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--") || i + 1 == count) { throw std::runtime_error("options come as --NAME VALUE"); }
    request.words[word.substr(2)] = words[++i];
  }
  return request;
}

int run_program(const char* name, int count, char** words, int (*run)(const Request& request)) {
  try {
    return run(request_of(count, words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  }
}

Watch watch_of(const Request& request, std::uint64_t absent) {
  constexpr std::uint64_t kMemory = std::uint64_t{2} << 30U;
  Watch watch;
  watch.first = request.number("first", 0);
  watch.count = request.number("inputs", 0);
  watch.seconds = 60.0 * static_cast<double>(request.number("minutes", 0));
  watch.memory = request.number("memory-limit", 1) == 1 ? kMemory : 0;
  watch.most_faults = request.number("most-faults", 1000);
  if (watch.count == 0 && watch.seconds == 0) { watch.count = absent; }
  return watch;
}

Scratch::Scratch() {
  const files::path memory = "/dev/shm";
  const files::path parent = files::is_directory(memory) ? memory : files::temp_directory_path();
  path_ = (parent / fmt::format("athanor_fuzz_{}", getpid())).string();
  files::remove_all(path_);
  files::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  files::remove_all(path_, ignored);
}

}  // namespace athanor::fuzz
