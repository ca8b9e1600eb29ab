#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/software/prediction_error.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

/// Of the rows in each band the mean |simulated / measured - 1|; none: no row was judged there.
using ErrorsByBand = std::array<std::optional<double>, kSizeBands>;

/// How far a profile is off on one of the tables that it was fitted on.
struct CalibratedTable {
  std::string name;
  std::optional<CollectiveKind> collective;  ///< none: not said
  std::uint32_t nodes = 0;                   ///< that were measured together; 0: not said
  ErrorsByBand fit;                          ///< on rows that were fitted
  ErrorsByBand sizes;                        ///< on every other row, by a fit on the others
  ErrorsByBand tables;                       ///< on all rows, by a fit on the other tables
};

/// The "calibration" of a profile: of "fit", "hold_out_sizes" and "hold_out_tables" what is said by table, and of
/// "tables" what those are; all else in it is for people. Calibrations on probes have no table.
void visit(FieldValue& value, std::vector<CalibratedTable>& tables);

/// What a profile's own tables say of its errors on a collective on so many nodes, where so much is known of it. Those
/// of that collective speak on as many nodes, else on others of one node or of several; where there is none, or where
/// other tables were all that was known, it is what all tables have in common that are within a node, or between nodes.
OwnErrors own_errors(const std::vector<CalibratedTable>& tables, Knowledge knowledge, CollectiveKind collective,
                     std::uint32_t nodes);

/// The table, and the band of its sizes, in which fitted rows are furthest off; null pointer: nothing was fitted.
struct WorstFit {
  const CalibratedTable* table = nullptr;
  SizeBand band = SizeBand::small;
  double error = 0;  ///< mean |simulated / measured - 1|
};
WorstFit worst_fit(const std::vector<CalibratedTable>& tables);

}  // namespace athanor
