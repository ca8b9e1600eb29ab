#pragma once

#include <optional>
#include <string>

#include "tools/cli/scenarios.hpp"

namespace athanor {

struct ExplainOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<Bytes> size;
  std::optional<std::string> job, timeline, picture;
};
void visit(OptionFields& fields, ExplainOptions& options);

}  // namespace athanor
