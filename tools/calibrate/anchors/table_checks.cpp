#include "tools/calibrate/anchors/table_checks.hpp"

#include <algorithm>

#include "tools/calibrate/anchors/row_checks.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

void check_tables(const Tables& tables, const std::vector<double>& expected_us) {
  Problems problems;
  for (std::size_t i = 0; i < tables.cases.size(); ++i) {
    const Tables::MeasuredCase& measured = tables.cases[i];
    GivenRows rows;
    rows.measurement = measured.setup.verification->measurement;
    rows.file = rows.measurement.id;
    std::vector<double> expected;
    for (std::size_t row = 0; row < tables.rows.size(); ++row) {
      const TableRow& each = tables.rows[row];
      if (each.in_case != i || each.spike) { continue; }
      rows.points.push_back({each.size, each.measured_us});
      expected.push_back(expected_us[row]);
    }
    // Who named the table for these nodes says with it which of their NICs were used.
    const RowClaims claims{rows.file, std::max(1U, measured.platform.cluster->nics_per_node)};
    check_machine(rows, measured, claims, problems);
    check_times(rows, measured, expected, claims, problems);
  }
  problems.throw_if_any();
}

}  // namespace athanor
