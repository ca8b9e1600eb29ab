#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/experiments/scenario/recommender_section.hpp"

namespace athanor {

/// How often each row of a table was looked up, row 0 first: of a file of counts, or of one of indices, whole numbers
/// with blanks, commas or ends of lines between them. Fewer counts than rows: others were never looked up.
/// Throws ScenarioError where a word is no such number, a row is none of the table, or nothing was looked up.
std::vector<std::uint64_t> row_counts(const std::string& text, const AccessConfig& access, std::uint64_t rows);

}  // namespace athanor
