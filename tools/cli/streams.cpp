#include "tools/cli/streams.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include "sim/printable.hpp"

namespace athanor {

namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kEraseLine = "\r\x1b[K";

void say(const Streams& streams, std::string_view colour, std::string_view word, std::string_view text) {
  const std::string_view on = streams.colour ? colour : "";
  const std::string_view off = streams.colour ? "\x1b[0m" : "";
  streams.err(fmt::format("athanor: {}{}:{} {}\n", on, word, off, printable_message(text)));
}

}  // namespace

void tell(const Streams& streams, std::string_view text) {
  streams.err(fmt::format("athanor: {}\n", printable_message(text)));
}

void complain(const Streams& streams, std::string_view text) { say(streams, kRed, "error", text); }

void warn(const Streams& streams, std::string_view text) { say(streams, kYellow, "warning", text); }

void Progress::write(std::string_view text) {
  if (streams_.progress_lines) { return tell(streams_, text); }
  streams_.err(fmt::format("{}{}", kEraseLine, printable(text)));
  shown_ = true;
}

void Progress::show(std::string_view text) {
  renewing_ = {};
  if (on_) { write(text); }
}

void Progress::show(std::string_view text, std::function<std::string()> more) {
  renewing_ = {};
  if (!on_) { return; }
  write(fmt::format("{}{}", text, more()));
  const std::chrono::seconds period(streams_.progress_lines ? 10 : 1);
  renewing_ =
      std::jthread([this, period, text = std::string(text), more = std::move(more)](const std::stop_token& stop) {
        std::mutex sleeping;
        std::condition_variable_any wakes;
        for (;;) {
          std::unique_lock lock(sleeping);
          wakes.wait_for(lock, stop, period, [] { return false; });
          if (stop.stop_requested()) { return; }
          write(fmt::format("{}{}", text, more()));
        }
      });
}

void Progress::clear() {
  renewing_ = {};
  if (!shown_) { return; }
  streams_.err(kEraseLine);
  shown_ = false;
}

}  // namespace athanor
