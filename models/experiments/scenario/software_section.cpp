#include "models/experiments/scenario/software_section.hpp"

#include "sim/config/fields.hpp"
#include "sim/error.hpp"

namespace athanor {

SoftwarePool read_pool(const Library& library, const std::string& name) {
  const bool known = library.has(LibraryFolder::pools, name);
  const Document document = Document::load(library.files(), known ? library.path(LibraryFolder::pools, name) : name);
  SoftwarePool pool;
  Problems problems;
  read_document(document, problems, [&](Fields& fields) { visit(fields, pool); });
  problems.throw_if_any();
  return pool;
}

}  // namespace athanor
