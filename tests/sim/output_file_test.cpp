#include "sim/output_file.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "sim/file.hpp"

using namespace athanor;
namespace files = std::filesystem;

namespace {

/// A folder that is gone after the test.
struct ScratchFolder {
  files::path path = files::temp_directory_path() / "athanor_output_file";
  ScratchFolder() {
    files::remove_all(path);
    files::create_directory(path);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { files::remove_all(path); }

  std::string operator/(const std::string& name) const { return (path / name).string(); }
  std::ptrdiff_t entries() const { return std::distance(files::directory_iterator(path), files::directory_iterator()); }
};

}  // namespace

TEST_CASE("a file is there as a whole, or not at all") {
  const ScratchFolder folder;
  {
    OutputFile file(folder / "a");
    file.write("half of ");
    CHECK_FALSE(files::exists(folder / "a"));
  }
  CHECK(folder.entries() == 0);
  write_text_file(folder / "a", "all");
  CHECK(read_text_file(folder / "a") == "all");
  {
    OutputFile file(folder / "a");
    file.write("something else");
  }
  CHECK(read_text_file(folder / "a") == "all");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a new file takes the permissions of the old one, and links lead where they led") {
  const ScratchFolder folder;
  write_text_file(folder / "a", "old");
  files::permissions(folder / "a", files::perms::owner_read | files::perms::owner_write);
  files::create_symlink("a", folder / "link");
  files::create_symlink("nothing yet", folder / "dangling");
  write_text_file(folder / "link", "new");
  write_text_file(folder / "dangling", "new");
  CHECK(files::is_symlink(folder / "link"));
  CHECK(read_text_file(folder / "a") == "new");
  CHECK(read_text_file(folder / "nothing yet") == "new");
  CHECK(files::status(folder / "a").permissions() == (files::perms::owner_read | files::perms::owner_write));
}

TEST_CASE("what cannot be written is told, and what is no file is written as it is") {
  const ScratchFolder folder;
  CHECK_THROWS_AS(write_text_file(folder / "no/such/folder", "text"), FileError);
  CHECK_THROWS_AS(write_text_file(folder.path.string(), "text"), FileError);
  files::create_symlink("b", folder / "a");
  files::create_symlink("a", folder / "b");
  CHECK_THROWS_AS(write_text_file(folder / "a", "text"), FileError);
  CHECK_THROWS_AS(write_text_file("/dev/full", "text"), FileError);
  CHECK_NOTHROW(write_text_file("/dev/null", "text"));
}
