#pragma once

#include <string>
#include <vector>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

namespace athanor {

/// Four hosts on one switch, with this workload.
std::string on_star(const std::string& workload, const std::string& more = "");

/// One job of an hour, and what else the workload says.
std::string an_hour_and(const std::string& more);

bool says(const nlohmann::json& problem, const std::string& text);

/// A scenario, the code of its problem and part of what that says.
struct WrongWorkload {
  std::string scenario;
  const char* code;
  const char* says;
};
void check_refused(const Folder& folder, const std::vector<WrongWorkload>& wrong);

}  // namespace athanor
