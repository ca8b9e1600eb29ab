#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "sim/ids.hpp"
#include "sim/output_file.hpp"
#include "sim/time.hpp"

namespace athanor {

using ProcessId = Id<struct ProcessTag>;

/// A horizontal line of the drawing, within a process.
struct Track {
  ProcessId process;
  std::uint32_t thread = 0;
};

/// One fact beside an event: {"bytes", size}. The value is text or a whole number.
struct Argument {
  std::string_view name;
  std::string_view text;
  std::int64_t number = 0;
  bool is_text = false;

  Argument(std::string_view key, std::string_view value) : name(key), text(value), is_text(true) {}
  Argument(std::string_view key, const char* value) : name(key), text(value), is_text(true) {}
  template <std::integral N>
  Argument(std::string_view key, N value) : name(key), number(static_cast<std::int64_t>(value)) {}
};
using Arguments = std::initializer_list<Argument>;

/// Writes what happens when as Chrome trace events (JSON array of events, "ts" in microseconds with all digits down
/// to the picosecond), which Perfetto and chrome://tracing open. Events go to the file as they come, in any order of
/// time; memory does not grow. Off: callers hold a null Timeline* and ask nothing of it.
class Timeline {
 public:
  /// Throws FileError when the file cannot be written.
  explicit Timeline(const std::string& path);
  /// Closes the file, so that it is complete also after an exception; errors of the disk are then lost.
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// A group of tracks; shown in the order in which they are added.
  ProcessId add_process(std::string_view name);
  /// A track below those of this process that were added before.
  Track add_track(ProcessId process, std::string_view name);

  /// From `begin` to `end`. Spans of one track must nest or be disjoint to be drawn well. Requires begin <= end.
  void span(Track track, std::string_view name, std::string_view category, Time begin, Time end,
            Arguments arguments = {});

  /// What is counted from then on, in a graph of this name: a line for each argument, which are numbers.
  void counter(ProcessId process, std::string_view name, Time when, Arguments values);

  /// Completes the file. Throws FileError when something could not be written. Nothing may be recorded afterwards.
  void close();

 private:
  void begin_event(std::string_view phase, Track track, std::string_view name);
  void end_event(Arguments arguments);
  void flush();

  std::string path_;
  std::unique_ptr<OutputFile> file_;  ///< null: closed
  std::string buffer_;
  bool first_ = true;
  std::uint32_t processes_ = 0;
  std::uint32_t threads_ = 0;
};

}  // namespace athanor
