#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/file.hpp"

namespace athanor {

/// What scenarios name instead of spelling it out.
enum class LibraryFolder { presets, profiles, pools, compute, compute_pools, measurements };

/// "presets", ...: also the folder.
std::string_view name(LibraryFolder kind);
/// The folder that holds presets/, profiles/, profiles/pools/, profiles/compute/, profiles/compute/pools/ and
/// measurements/. A profile, pool or measurement NAME is the file NAME.json; presets are several to a file.
class Library {
 public:
  explicit Library(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  std::string folder(LibraryFolder kind) const;
  std::string path(LibraryFolder kind, std::string_view name) const;
  /// In alphabetical order; none where the folder does not exist.
  std::vector<std::string> names(LibraryFolder kind) const;
  bool has(LibraryFolder kind, std::string_view name) const;
  /// Reads what is in the folders, and remembers it; relative names start in the working directory.
  const FileReader& files() const { return files_; }

 private:
  std::string directory_;
  FileReader files_;
};

}  // namespace athanor
