#include "sim/config/foreign.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace athanor {

namespace {

constexpr std::size_t kMostTold = 20;

std::vector<Problem> first_of(std::vector<Problem> problems) {
  if (problems.size() <= kMostTold) { return problems; }
  const std::size_t more = problems.size() - kMostTold;
  problems.resize(kMostTold);
  problems.push_back(
      {"more", fmt::format("and {} more of such problems", more), {problems[0].place.file, 0, 0, ""}, ""});
  return problems;
}

std::string first_described(const std::vector<Problem>& problems) {
  return problems.empty() ? "a file that athanor did not write" : describe(problems.front());
}

}  // namespace

DocumentError::DocumentError(std::vector<Problem> problems)
    : FileError(first_described(problems)), problems_(first_of(std::move(problems))) {}

Document parse_foreign(std::string text, const std::string& file) {
  try {
    return Document::parse(std::move(text), file);
  } catch (const ScenarioError& error) { throw DocumentError(error.problems()); }
}

void read_foreign(const Document& document, const FieldValue::VisitObject& read) {
  Problems problems;
  read_document(document, problems, read);
  try {
    problems.throw_if_any();
  } catch (const ScenarioError& error) { throw DocumentError(error.problems()); }
}

}  // namespace athanor
