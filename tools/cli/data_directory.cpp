#include "tools/cli/data_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/words.hpp"
#include "tools/cli/build_facts.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

std::vector<std::string> candidates() {
  const char* chosen = std::getenv("ATHANOR_DATA");  // NOLINT(concurrency-mt-unsafe): nothing sets it meanwhile
  if (chosen != nullptr) { return {chosen}; }
  std::vector<std::string> all;
  std::error_code unknown;
  const files::path executable = files::read_symlink("/proc/self/exe", unknown);
  if (!unknown) { all.push_back((executable.parent_path().parent_path() / "share/athanor/scenarios").string()); }
  all.emplace_back(ATHANOR_SOURCE_DATA);
  all.emplace_back(ATHANOR_INSTALLED_DATA);
  return all;
}

}  // namespace

std::string data_directory() {
  const std::vector<std::string> all = candidates();
  std::error_code ignored;
  for (const std::string& candidate : all) {
    if (files::is_directory(candidate, ignored)) { return candidate; }
  }
  throw FileError(fmt::format(
      "no folder with presets, profiles and measurements: there is no {}; name it with --data DIR or ATHANOR_DATA",
      joined(all, ", no ")));
}

}  // namespace athanor
