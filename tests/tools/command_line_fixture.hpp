#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "sim/file.hpp"
#include "tools/command_line/run_command_line.hpp"

namespace athanor {

/// What one command did.
struct Ran {
  int code = 0;
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
  bool says(const std::string& text) const { return (out + err).find(text) != std::string::npos; }
};

/// Runs athanor in this process. `interrupted_after`: asks to stop after so many runs; negative: never.
inline Ran athanor_with(const std::vector<std::string>& arguments, int interrupted_after, bool terminal = false) {
  Ran ran;
  const Streams streams{.out = [&](std::string_view text) { ran.out += text; },
                        .err = [&](std::string_view text) { ran.err += text; },
                        .progress = terminal,
                        .colour = terminal,
                        .interrupted = [&] { return interrupted_after >= 0 && interrupted_after-- == 0; }};
  ran.code = static_cast<int>(run_command_line(arguments, streams));
  return ran;
}

inline Ran athanor_run(const std::vector<std::string>& arguments) { return athanor_with(arguments, -1); }

/// A folder of its own, gone at the end of the test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("athanor_test_{}", getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// Four hosts on one switch, whose links take 1 us: nothing here hangs on presets or profiles.
inline constexpr const char* kSmall = R"({
  "name": "small",
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB..4KiB"}
})";

/// kSmall with one text in it replaced by another.
inline std::string small_with(const std::string& text, const std::string& other) {
  std::string scenario = kSmall;
  const std::size_t at = scenario.find(text);
  if (at == std::string::npos) { throw std::logic_error("no '" + text + "' in the small scenario"); }
  return scenario.replace(at, text.size(), other);
}

/// A measurement of `collective` on `nodes` nodes of one GPU, with one row per pair of bytes and microseconds.
inline std::string measurement(const std::string& collective, int nodes,
                               const std::vector<std::pair<int, double>>& rows) {
  nlohmann::json json = {{"id", "mine"},
                         {"source", "a test"},
                         {"collective", collective},
                         {"hardware", {{"gpu", "host"}, {"nodes", nodes}, {"gpus_per_node", 1}}},
                         {"software", {{"algo", "Ring"}}},
                         {"rows", nlohmann::json::array()}};
  for (const auto& [bytes, time] : rows) { json["rows"].push_back({{"bytes", bytes}, {"time_us", time}}); }
  return json.dump(1);
}

}  // namespace athanor
