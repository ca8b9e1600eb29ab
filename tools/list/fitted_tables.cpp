#include "tools/list/fitted_tables.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "models/experiments/scenario/measurement.hpp"
#include "tools/verify/published_table.hpp"

namespace athanor {

namespace {

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (!word.empty() && std::count(list.begin(), list.end(), word) == 0) { list.push_back(word); }
}

/// The library that measured, with its version as the table has it: "NCCL 2.26.2", "RCCL 2.22.3 (ROCm 6.4.2)".
std::string software_of(const Measurement& measurement) {
  for (const auto& [key, value] : measurement.software_facts) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) { continue; }
    if (key == "mpi") { return *text; }
    if (key == "nccl") { return text->starts_with("RCCL") ? *text : "NCCL " + *text; }
  }
  return "";
}

std::size_t rows_within(const Profile::Domain& fitted, const Measurement& measurement) {
  std::size_t rows = 0;
  for (const std::string& word : fitted.collectives) {
    const auto kind = collective_kind(word);
    for (const std::uint32_t ranks : fitted.ranks) {
      if (!kind || !measurement.covers(*kind, ranks)) { continue; }
      for (const TablePoint& point : measured_points(measurement, {.kind = *kind, .ranks = ranks})) {
        rows += point.size >= fitted.from && point.size <= fitted.to ? 1 : 0;
      }
    }
  }
  return rows;
}

}  // namespace

FittedTables fitted_tables(const Profile::Domain& fitted, const Library& library, Problems& problems) {
  FittedTables tables;
  for (const std::string& id : fitted.measurements) {
    if (!library.has(LibraryFolder::measurements, id)) { continue; }
    const Measurement measurement =
        read_measurement(library.files(), library.path(LibraryFolder::measurements, id), problems);
    add_once(tables.hardware, measurement.hardware);
    add_once(tables.software, software_of(measurement));
    tables.rows += rows_within(fitted, measurement);
  }
  if (fitted.rows > 0) { tables.rows = fitted.rows; }
  return tables;
}

}  // namespace athanor
