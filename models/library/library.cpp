#include "models/library/library.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

namespace athanor {

namespace files = std::filesystem;

std::string_view name(Shelf shelf) {
  switch (shelf) {
    case Shelf::presets: return "presets";
    case Shelf::profiles: return "profiles";
    case Shelf::compute: return "profiles/compute";
    case Shelf::measurements: return "measurements";
  }
  return "";
}

std::string Library::folder(Shelf shelf) const { return (files::path(directory_) / name(shelf)).string(); }

std::string Library::path(Shelf shelf, std::string_view item) const {
  return (files::path(folder(shelf)) / fmt::format("{}.json", item)).string();
}

std::vector<std::string> Library::names(Shelf shelf) const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(folder(shelf), ignored)) {
    if (entry.path().extension() == ".json") { names.push_back(entry.path().stem().string()); }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Library::has(Shelf shelf, std::string_view item) const {
  const std::vector<std::string> all = names(shelf);
  return std::binary_search(all.begin(), all.end(), item);
}

}  // namespace athanor
