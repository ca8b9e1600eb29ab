#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"

namespace athanor {

class FileReader;

/// One JSON document (comments allowed) that knows where each of its values was written. A value, cheap to copy but
/// for its JSON.
class Document {
 public:
  /// Throws ScenarioError ("syntax", "duplicate-key") with line and column; `file` is what problems name.
  static Document parse(std::string text, std::string file);
  /// Throws FileError when the file cannot be read, else as parse.
  static Document load(const FileReader& files, const std::string& name);

  /// The keys of each object stand in order.
  const JsonValue& root() const { return root_; }
  const std::string& file() const;

  /// Where the value at a JSON pointer was written. For a pointer that names nothing: the nearest enclosing value.
  SourceLocation place(const std::string& pointer) const;
  /// The same for the key in front of the value; array elements and the root have none: their value's place.
  SourceLocation key_place(const std::string& pointer) const;

  /// "/collective/channels=4", from a command line: the text behind '=' is taken as JSON, or as a string where it is
  /// not. Objects on the way are made where they are not there; UsageError where one of almost the same name is, or
  /// where a list has no such element. "=null" takes out what is there. Places of what is set say file "--set".
  void set(std::string_view assignment);

  /// This document without its key `list`, changed by element `index` of that list as by an RFC 7396 merge patch:
  /// one of the `cases` of a scenario. Values that came from the patch keep their places in it.
  /// Requires root()[list][index] to be an object.
  Document patched(const std::string& list, std::size_t index) const;

 private:
  struct Text;
  /// Values at and below `pointer` were written at `source` (of the text), or on the command line when `set`.
  struct Origin {
    std::string pointer;
    std::string source;
    bool set = false;
  };

  Document(std::shared_ptr<const Text> text, JsonValue root) : text_(std::move(text)), root_(std::move(root)) {}
  void merge(JsonValue& target, const JsonValue& patch, const std::string& at, const std::string& from);
  SourceLocation locate(const std::string& pointer, bool key) const;

  std::shared_ptr<const Text> text_;
  JsonValue root_;
  std::vector<Origin> origins_;  ///< the last that holds a pointer counts; none: written where it stands
};

}  // namespace athanor
