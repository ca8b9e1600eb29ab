#include "tests/tools/cli/command_line_fixture.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/config/text.hpp"
#include "tools/cli/run_command_line.hpp"

namespace athanor {

nlohmann::json Ran::json() const { return json_from(out); }

bool Ran::says(const std::string& text) const { return (out + err).find(text) != std::string::npos; }

Ran athanor_with(const std::vector<std::string>& arguments, int interrupted_after, bool terminal) {
  Ran ran;
  std::atomic<int> left = interrupted_after;  // sweeps ask in several threads; once it is true, it stays so
  const Streams streams{.out = [&](std::string_view text) { ran.out += text; },
                        .err = [&](std::string_view text) { ran.err += text; },
                        .progress = terminal,
                        .colour = terminal,
                        .interrupted = [&] { return interrupted_after >= 0 && left.fetch_sub(1) <= 0; }};
  ran.code = static_cast<int>(run_command_line(arguments, streams));
  return ran;
}

Ran athanor_run(const std::vector<std::string>& arguments) { return athanor_with(arguments, -1); }

Folder::Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("athanor_test_{}", getpid())) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::path(const std::string& name) const { return (path_ / name).string(); }

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path(name)) << text;
  return path(name);
}

std::string small_with(const std::string& text, const std::string& other) {
  std::string scenario = kSmall;
  const std::size_t at = scenario.find(text);
  if (at == std::string::npos) { throw std::logic_error("no '" + text + "' in the small scenario"); }
  return scenario.replace(at, text.size(), other);
}

std::string measurement(const std::string& collective, int nodes, const std::vector<std::pair<int, double>>& rows) {
  nlohmann::json json = {{"id", "mine"},
                         {"source", "a test"},
                         {"collective", collective},
                         {"hardware", {{"gpu", "host"}, {"nodes", nodes}, {"gpus_per_node", 1}}},
                         {"software", {{"algo", "Ring"}}},
                         {"rows", nlohmann::json::array()}};
  for (const auto& [bytes, time] : rows) { json["rows"].push_back({{"bytes", bytes}, {"time_us", time}}); }
  return text_of(json, 1);
}

}  // namespace athanor
