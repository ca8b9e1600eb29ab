#include "tools/command_line/drawing.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/json/text.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/python.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

/// A file of this process alone, gone at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text)
      : path_((files::temp_directory_path() / fmt::format("athanor-drawing-{}.json", ::getpid())).string()) {
    write_text_file(path_, text);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    files::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string plotting_script(const Library& library, const std::string& name) {
  const files::path root = files::absolute(library.directory()).lexically_normal();
  const files::path parent = root.has_filename() ? root.parent_path() : root.parent_path().parent_path();
  const files::path script = parent / "tools/plot" / name;
  if (!files::exists(script)) {
    throw FileError(fmt::format("the plotting script is missing: there is no {}; --data DIR says where scenarios/ is",
                                script.string()));
  }
  return script.string();
}

std::string picture_path(const Invocation& invocation, const std::string& name) {
  if (!invocation.has("output")) { return (files::path(invocation.text("out")) / (name + ".svg")).string(); }
  return picture_at(invocation.text("output"));
}

std::string picture_at(const std::string& path) {
  const std::string ending = files::path(path).extension().string();
  if (ending != ".svg" && ending != ".png" && ending != ".pdf") {
    throw UsageError(fmt::format("'{}' should end in .svg, .png or .pdf", path));
  }
  check_writable(path);
  return path;
}

void draw(const Invocation& invocation, const Streams& streams, const std::string& script,
          const nlohmann::ordered_json& data, const std::string& picture) {
  const std::string python = python_with("matplotlib");
  const TemporaryFile file(text_of(data));
  const Finished finished =
      run_process({python, plotting_script(invocation.library, script), file.path(), "--output", picture});
  streams.out(finished.out);
  streams.err(finished.err);
  if (finished.status != 0) { throw FileError(fmt::format("plot: {} could not be drawn", picture)); }
}

}  // namespace athanor
