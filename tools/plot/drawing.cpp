#include "tools/plot/drawing.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "tools/cli/output.hpp"
#include "tools/plot/python.hpp"

namespace athanor {

TemporaryFile::TemporaryFile(std::string_view ending) {
  // Made at once, and for nobody else: others may write into the folder, and lay a link under a name that they guess.
  path_ = (std::filesystem::temp_directory_path() / fmt::format("athanor-XXXXXX{}", ending)).string();
  const int descriptor = ::mkstemps(path_.data(), static_cast<int>(ending.size()));
  if (descriptor < 0) { throw FileError(fmt::format("cannot make {}: {}", path_, std::strerror(errno))); }
  ::close(descriptor);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) { std::filesystem::remove(path_, ignored); }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}

namespace files = std::filesystem;

std::string plotting_script(const Library& library, const std::string& name) {
  const files::path root = files::absolute(library.directory()).lexically_normal();
  const files::path parent = root.has_filename() ? root.parent_path() : root.parent_path().parent_path();
  const files::path script = parent / "tools/plot/python" / name;
  if (!files::exists(script)) {
    throw FileError(fmt::format("the plotting script is missing: there is no {}; --data DIR says where scenarios/ is",
                                script.string()));
  }
  return script.string();
}

std::string picture_path(const std::optional<std::string>& output, const std::string& folder, const std::string& name) {
  return output ? picture_at(*output) : (files::path(folder) / (name + ".svg")).string();
}

std::string picture_at(const std::string& path) {
  const std::string ending = files::path(path).extension().string();
  if (ending != ".svg" && ending != ".png" && ending != ".pdf") {
    throw UsageError(fmt::format("'{}' should end in .svg, .png or .pdf", path));
  }
  check_writable(path);
  return path;
}

void draw_file(const Library& library, const Streams& streams, const std::string& script, const std::string& file,
               const std::vector<std::string>& words, const std::string& what) {
  std::vector<std::string> command = python_with("matplotlib", plotting_script(library, "isolated.py"));
  command.push_back(plotting_script(library, script));
  command.push_back(file);
  command.insert(command.end(), words.begin(), words.end());
  const Finished finished = run_process(command);
  streams.out(printable_lines(finished.out));
  streams.err(printable_lines(finished.err));
  if (finished.status != 0) { throw FileError(fmt::format("plot: {} could not be drawn", what)); }
}

void draw_data(const Library& library, const Streams& streams, const std::string& script, const JsonValue& data,
               const std::vector<std::string>& words, const std::string& what) {
  const TemporaryFile file(".json");
  write_text_file(file.path(), text_of(data));
  draw_file(library, streams, script, file.path(), words, what);
}

void draw(const Library& library, const Streams& streams, const std::string& script, const JsonValue& data,
          const std::string& picture) {
  draw_data(library, streams, script, data, {"--output", picture}, picture);
}

}  // namespace athanor
