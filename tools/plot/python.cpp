#include "tools/plot/python.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// Where a process writes: a file without a name, so that a talkative process never waits for its reader.
class Capture {
 public:
  Capture() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) { throw FileError(fmt::format("cannot make a temporary file: {}", std::strerror(errno))); }
  }
  int descriptor() const { return fileno(file_.get()); }
  std::string text() const {
    std::string all;
    std::array<char, 4096> block{};
    std::rewind(file_.get());
    for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file_.get())) > 0;) {
      all.append(block.data(), got);
    }
    return all;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// What the process gets: no input, our captures, and the interrupts that this program holds back.
class SpawnSettings {
 public:
  SpawnSettings(const Capture& out, const Capture& err) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, out.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, err.descriptor(), STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

constexpr int kCannotStart = 127;

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// -I: neither the working directory nor what the environment says changes what is imported, but for what isolated.py
/// allows. -B: no byte code beside the scripts, which in an installation would outlive the package that they belong to.
std::vector<std::string> isolated_python(const std::string& python, const std::string& isolated) {
  return {python, "-I", "-B", isolated};
}

bool can_import(std::vector<std::string> command, const std::string& module) {
  command.insert(command.end(), {"--has", module});
  return run_process(command).status == 0;
}

}  // namespace

Finished run_process(const std::vector<std::string>& command) {
  const Capture out;
  const Capture err;
  const SpawnSettings settings(out, err);
  std::vector<char*> words;
  for (const std::string& word : command) { words.push_back(const_cast<char*>(word.c_str())); }
  words.push_back(nullptr);
  pid_t process = 0;
  const int failure = posix_spawnp(&process, words[0], settings.files(), settings.attributes(), words.data(), environ);
  if (failure != 0) { return {kCannotStart, "", fmt::format("{}: {}\n", command[0], std::strerror(failure))}; }
  const int status = wait_for(process);
  return {status, out.text(), err.text()};
}

std::vector<std::string> python_with(const std::string& module, const std::string& isolated) {
  const char* chosen = std::getenv("ATHANOR_PYTHON");  // NOLINT(concurrency-mt-unsafe): nothing sets it meanwhile
  if (chosen != nullptr) {
    const std::vector<std::string> command = isolated_python(chosen, isolated);
    if (can_import(command, module)) { return command; }
    throw FileError(fmt::format("ATHANOR_PYTHON is '{}', which cannot import {}", chosen, module));
  }
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const std::vector<std::string> command = isolated_python(candidate, isolated);
    if (can_import(command, module)) { return command; }
  }
  throw FileError(
      fmt::format("no Python with {0} was found; install it (tools/setup does, or `apt install python3-{0}`), or name "
                  "one that has it in ATHANOR_PYTHON",
                  module));
}

}  // namespace athanor
