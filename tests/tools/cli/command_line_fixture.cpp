#include "tests/tools/cli/command_line_fixture.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include "tests/json_text.hpp"
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

std::string network_at(const std::string& level) {
  return level == "packet" ? R"({"level": "packet", "transport": {"header": "0B"}})"
                           : fmt::format(R"({{"level": "{}"}})", level);
}

nlohmann::json results_of(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more) {
  std::vector<std::string> words{"run", folder.write("s.json", scenario), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = athanor_run(words);
  CAPTURE(scenario);
  CAPTURE(ran.err);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  return ran.json()["results"];
}

nlohmann::json result_of(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more) {
  return results_of(folder, scenario, more)[0];
}

nlohmann::json result_of(const std::string& scenario) { return result_of(Folder(), scenario); }

nlohmann::json problem_of(const Folder& folder, const std::string& scenario) {
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(scenario);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  return ran.json()["error"];
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
