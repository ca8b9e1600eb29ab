#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace athanor {

/// What a command writes to and hears from. Results go to `out`, everything else to `err`; a command uses nothing
/// else of the process, so that several can run in one.
struct Streams {
  std::function<void(std::string_view)> out;  ///< throws FileError when nothing more can be written
  std::function<void(std::string_view)> err;
  bool progress = false;        ///< progress is welcome: err is a terminal, or somebody has asked for it
  bool progress_lines = false;  ///< err is no terminal: progress is line after line, not one that is written over
  bool colour = false;          ///< err is a terminal and NO_COLOR is not set
  std::function<bool()> interrupted = [] { return false; };  ///< asked between runs: stop and print what there is
  std::stop_token stop = {};                                 ///< the same, in the middle of a run
};

/// "athanor: text" and a line end. Here as below what moves a terminal's cursor or begins a line is escaped: names come
/// from files.
void tell(const Streams& streams, std::string_view text);
/// "athanor: error: text", the word in red where colour is welcome, and a line end.
void complain(const Streams& streams, std::string_view text);
/// "athanor: warning: text".
void warn(const Streams& streams, std::string_view text);

/// A line on a terminal that says what is going on and leaves nothing behind; where err is none and progress was asked
/// for, a line for each step, and one in ten seconds. Else silent.
class Progress {
 public:
  Progress(const Streams& streams, bool wanted) : streams_(streams), on_(wanted && streams.progress) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  /// The same, and behind it what `more` says, asked again and again, in another thread, until the next call.
  void show(std::string_view text, std::function<std::string()> more);
  void clear();

 private:
  void write(std::string_view text);

  const Streams& streams_;
  bool on_;
  bool shown_ = false;
  std::jthread renewing_;
};

}  // namespace athanor
