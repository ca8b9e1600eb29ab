#include "tools/cli/progress.hpp"

#include <fmt/core.h>

#include "sim/printable.hpp"

namespace athanor {

namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

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
