#pragma once

#include <string>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"

// What athanor once wrote and reads again: results, comparisons, sweeps. Meanwhile anybody may have changed it.

namespace athanor {

/// A file that does not hold what athanor writes into it (exit code 4), with the places of what is wrong.
class DocumentError : public FileError {
 public:
  /// Keeps the first of very many.
  explicit DocumentError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// As Document::parse, but throws DocumentError.
Document parse_foreign(std::string text, const std::string& file);

/// Reads the root object. Throws DocumentError for all that `read` finds.
void read_foreign(const Document& document, const FieldValue::VisitObject& read);

}  // namespace athanor
