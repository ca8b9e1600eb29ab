#include "tools/explain/link_table.hpp"

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/cli/columns.hpp"

namespace athanor {

namespace {

std::string line_of(const LinkClassUse& use) {
  return fmt::format("  {:<36} {:>8} {:>8} {:>7.1f} {:>7.1f}  {}\n", use.name, use.links, use.used, use.mean * 100,
                     use.most * 100, about(static_cast<double>(use.carried.count())));
}

}  // namespace

std::string link_lines(const std::vector<LinkClassUse>& links) {
  std::string lines;
  std::string idle;
  for (const LinkClassUse& use : links) {
    if (use.used > 0) {
      lines += line_of(use);
    } else {
      idle += (idle.empty() ? "" : "; ") + use.name;
    }
  }
  if (lines.empty()) { return ""; }
  const std::string head =
      fmt::format("{:<38} {:>8} {:>8} {:>7} {:>7}  {}\n", "links", "count", "used", "mean %", "most %", "carried");
  return head + lines + (idle.empty() ? "" : fmt::format("  idle: {}\n", idle));
}

JsonValue links_json(const std::vector<LinkClassUse>& links) {
  JsonValue list = JsonValue::list();
  for (const LinkClassUse& use : links) {
    list.push_back({{"class", use.name},
                    {"links", use.links},
                    {"used", use.used},
                    {"mean_percent", use.mean * 100},
                    {"most_percent", use.most * 100},
                    {"bytes", use.carried.count()}});
  }
  return list;
}

}  // namespace athanor
