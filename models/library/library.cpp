#include "models/library/library.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

namespace athanor {

namespace files = std::filesystem;

std::string_view name(LibraryFolder kind) {
  switch (kind) {
    case LibraryFolder::presets: return "presets";
    case LibraryFolder::profiles: return "profiles";
    case LibraryFolder::pools: return "profiles/pools";
    case LibraryFolder::compute: return "profiles/compute";
    case LibraryFolder::compute_pools: return "profiles/compute/pools";
    case LibraryFolder::measurements: return "measurements";
  }
  return "";
}

std::string Library::folder(LibraryFolder kind) const { return (files::path(directory_) / name(kind)).string(); }

std::string Library::path(LibraryFolder kind, std::string_view item) const {
  return (files::path(folder(kind)) / fmt::format("{}.json", item)).string();
}

std::vector<std::string> Library::names(LibraryFolder kind) const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(folder(kind), ignored)) {
    if (entry.path().extension() == ".json") { names.push_back(entry.path().stem().string()); }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Library::has(LibraryFolder kind, std::string_view item) const {
  const std::vector<std::string> all = names(kind);
  return std::binary_search(all.begin(), all.end(), item);
}

}  // namespace athanor
