#include "tools/cli/streams.hpp"

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

void Progress::show(std::string_view text) {
  if (!on_) { return; }
  streams_.err(fmt::format("{}{}", kEraseLine, printable(text)));
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) { return; }
  streams_.err(kEraseLine);
  shown_ = false;
}

}  // namespace athanor
