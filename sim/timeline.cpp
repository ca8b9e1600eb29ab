#include "sim/timeline.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16;

/// `text` as a JSON string. Names come from traces: bytes that are no UTF-8 are written as those who print them do.
void append_string(std::string& buffer, std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string shown;
  if (!std::all_of(text.begin(), text.end(), is_ascii)) { text = shown = printable(text); }
  buffer.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      buffer.push_back('\\');
      buffer.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(buffer), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      buffer.push_back(c);
    }
  }
  buffer.push_back('"');
}

/// Picoseconds as microseconds, exactly.
void append_time(std::string& buffer, std::string_view key, Time time) {
  constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
  fmt::format_to(std::back_inserter(buffer), ",\"{}\":{}.{:06}", key, time.count() / kPicosecondsPerMicrosecond,
                 time.count() % kPicosecondsPerMicrosecond);
}

void append_field(std::string& buffer, std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(buffer), ",\"{}\":", key);
  append_string(buffer, text);
}

void append_arguments(std::string& buffer, Arguments arguments) {
  std::string_view separator = ",\"args\":{";
  for (const Argument& argument : arguments) {
    buffer.append(separator);
    append_string(buffer, argument.name);
    buffer.push_back(':');
    if (argument.is_text) {
      append_string(buffer, argument.text);
    } else {
      fmt::format_to(std::back_inserter(buffer), "{}", argument.number);
    }
    separator = ",";
  }
  if (arguments.size() > 0) { buffer.push_back('}'); }
}

}  // namespace

Timeline::Timeline(const std::string& path) : path_(path), file_(std::make_unique<OutputFile>(path)) {
  buffer_.append(std::string_view("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
}

Timeline::~Timeline() {
  try {
    if (file_) { close(); }
  } catch (const FileError&) {  // close() is for those who want to know
  }
}

void Timeline::begin_event(std::string_view phase, Track track, std::string_view name) {
  require(file_ != nullptr, "the timeline '{}' is closed, '{}' comes too late", path_, name);
  fmt::format_to(std::back_inserter(buffer_), "{}\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"name\":", first_ ? "" : ",",
                 phase, track.process.value, track.thread);
  append_string(buffer_, name);
  first_ = false;
}

void Timeline::end_event(Arguments arguments) {
  append_arguments(buffer_, arguments);
  buffer_.push_back('}');
  if (buffer_.size() >= kFlushAt) { flush(); }
}

void Timeline::flush() {
  file_->write({buffer_.data(), buffer_.size()});
  buffer_.clear();
}

ProcessId Timeline::add_process(std::string_view name) {
  const Track track{ProcessId{++processes_}, 0};
  begin_event("M", track, "process_name");
  end_event({{"name", name}});
  begin_event("M", track, "process_sort_index");
  end_event({{"sort_index", processes_}});
  return track.process;
}

Track Timeline::add_track(ProcessId process, std::string_view name) {
  const Track track{process, ++threads_};
  begin_event("M", track, "thread_name");
  end_event({{"name", name}});
  begin_event("M", track, "thread_sort_index");
  end_event({{"sort_index", threads_}});
  return track;
}

void Timeline::span(Track track, std::string_view name, std::string_view category, Time begin, Time end,
                    Arguments arguments) {
  require(begin <= end, "the span '{}' ends before it begins", name);
  begin_event("X", track, name);
  append_field(buffer_, "cat", category);
  append_time(buffer_, "ts", begin);
  append_time(buffer_, "dur", end - begin);
  end_event(arguments);
}

void Timeline::counter(ProcessId process, std::string_view name, Time when, Arguments values) {
  begin_event("C", {process, 0}, name);
  append_time(buffer_, "ts", when);
  end_event(values);
}

void Timeline::close() {
  require(file_ != nullptr, "the timeline '{}' is closed already", path_);
  buffer_.append(std::string_view("\n]}\n"));
  const std::unique_ptr<OutputFile> file = std::move(file_);
  file->write({buffer_.data(), buffer_.size()});
  file->finish();
}

}  // namespace athanor
