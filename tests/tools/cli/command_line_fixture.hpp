#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/file.hpp"
#include "tests/json_text.hpp"

namespace athanor {

/// What one command did.
struct Ran {
  int code = 0;
  std::string out;
  std::string err;

  nlohmann::json json() const;  ///< of `out`
  bool says(const std::string& text) const;
};

/// Runs athanor in this process. `interrupted_after`: asks to stop after so many runs; negative: never.
Ran athanor_with(const std::vector<std::string>& arguments, int interrupted_after, bool terminal = false);

Ran athanor_run(const std::vector<std::string>& arguments);

/// A folder of its own, gone at the end of the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const;
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// "network" of a level; without headers, so that the levels are comparable to the bit.
std::string network_at(const std::string& level);

/// "results" of a scenario that runs, written to `folder`; `more`: further words of the command line.
nlohmann::json results_of(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {});
/// The first of them.
nlohmann::json result_of(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {});
nlohmann::json result_of(const std::string& scenario);

/// The first problem of a scenario that is refused.
nlohmann::json problem_of(const Folder& folder, const std::string& scenario);

/// Four hosts on one switch, whose links take 1 us: nothing here hangs on presets or profiles.
inline constexpr const char* kSmall = R"({
  "name": "small",
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB..4KiB"}
})";

/// Two hosts of it exchange what "matrix.csv" beside the scenario says, as kPairs.
inline constexpr const char* kExchange = R"({
  "name": "exchange",
  "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_to_all_v", "algorithm": "direct", "exchange": "matrix.csv", "type": "int8"}
})";
inline constexpr const char* kPairs = "0,1024\n2048,0\n";

/// kSmall with one text in it replaced by another.
std::string small_with(const std::string& text, const std::string& other);

/// A measurement of `collective` on `nodes` nodes of one GPU, with one row per pair of bytes and microseconds.
std::string measurement(const std::string& collective, int nodes, const std::vector<std::pair<int, double>>& rows);

}  // namespace athanor
