#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stop_token>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "tools/cli/run_command_line.hpp"

namespace athanor {

namespace {

/// Takes Ctrl-C in a thread of its own, which outlives main: the first asks the command to stop, within a run
/// where its simulation can, the second ends the process at once.
std::stop_token interruption() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  std::stop_source asked;
  std::thread([asked, interrupts]() mutable {
    for (int signal = 0;;) {
      if (sigwait(&interrupts, &signal) != 0) { continue; }
      if (!asked.request_stop()) { std::_Exit(static_cast<int>(ExitCode::interrupted)); }
      std::fputs("\nathanor: stopping after this step; Ctrl-C once more stops at once\n", stderr);
    }
  }).detach();
  return asked.get_token();
}

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw FileError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

/// Tables escape names; what else a terminal is shown (JSON, CSV) does not move its cursor either.
void write_to_terminal(std::string_view text) { write_out(printable_lines(text)); }

void write_err(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

}  // namespace athanor

int main(int argc, char** argv) {
  using namespace athanor;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const bool shown = isatty(STDOUT_FILENO) != 0;
  const char* no_colour = std::getenv("NO_COLOR");
  const std::stop_token stop = interruption();
  const Streams streams{.out = shown ? &write_to_terminal : &write_out,
                        .err = &write_err,
                        .progress = terminal,
                        .colour = terminal && (no_colour == nullptr || *no_colour == '\0'),
                        .interrupted = [&stop] { return stop.stop_requested(); },
                        .stop = stop};
  return static_cast<int>(run_command_line({argv + 1, argv + argc}, streams));
}
