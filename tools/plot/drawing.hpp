#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/library/library.hpp"
#include "sim/config/json_value.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// An empty file of this process alone in the folder for temporary files, removed in the end.
class TemporaryFile {
 public:
  /// `ending`: with its dot.
  explicit TemporaryFile(std::string_view ending);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Where a script of tools/plot/python lies: beside the scenarios, in the source tree and where it is installed. Throws
/// FileError when it does not.
std::string plotting_script(const Library& library, const std::string& name);

/// The picture's file: `output`, or NAME.svg in the folder where that is absent. Its ending says what kind of picture:
/// throws UsageError where it is none of .svg, .png and .pdf, FileError where the file cannot be written.
std::string picture_path(const std::optional<std::string>& output, const std::string& folder, const std::string& name);

/// The same path as one that was asked for by another option.
std::string picture_at(const std::string& path);

/// Draws a file with a script of tools/plot/python that takes it and `words`; what it says goes to out and err. Throws
/// FileError where that fails; `what`: what could not be drawn.
void draw_file(const Library& library, const Streams& streams, const std::string& script, const std::string& file,
               const std::vector<std::string>& words, const std::string& what);

/// The same of data that are in no file yet.
void draw_data(const Library& library, const Streams& streams, const std::string& script, const JsonValue& data,
               const std::vector<std::string>& words, const std::string& what);

/// The same as one picture.
void draw(const Library& library, const Streams& streams, const std::string& script, const JsonValue& data,
          const std::string& picture);

}  // namespace athanor
