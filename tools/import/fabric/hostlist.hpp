#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// Names that Slurm writes short: "tux[0-3,12],login" is tux0, tux1, tux2, tux3, tux12 and login. Leading zeros count
/// ("n[08-10]"), several brackets multiply ("r[1-2]n[0-3]").
struct Hostlist {
  std::vector<std::string> names;  ///< in the order of the text
  std::string fault;               ///< why the text is none; then there are no names
};

/// So many names at most come out of one text, and of all texts of a file.
constexpr std::size_t kMostHosts = 1U << 20U;

/// How many names come out of a text, found without making them; up to kMostHosts + 1, which stands for more. What is
/// no list counts 0.
std::size_t hosts_in(std::string_view text);

Hostlist hostlist(std::string_view text);

}  // namespace athanor
