#pragma once

#include <string>
#include <vector>

#include "tools/calibrate/pool/pooled_model.hpp"
#include "tools/verify/published_table.hpp"

namespace athanor {

/// A time as the model has it: the middle, and the standard deviation of its logarithm, of figures alone.
struct ExpectedTime {
  double time_us = 0;
  double spread = 0;

  /// Eight in ten times lie within this factor of the middle, above or below.
  double factor() const;
};

/// One size before and after rows were looked at.
struct SizeChange {
  Bytes size;
  ExpectedTime before;
  ExpectedTime after;
};

/// What times are given of: a collective on its stack, and what is expected of that. Borrows the pool.
struct RowCase {
  Tables::MeasuredCase measured;  ///< with a verification, which names the rows
  StackCase stack;
  const SoftwarePool& pool;
};

/// Of these points; sizes without a measured time have 1 us.
PooledModel model_of(const RowCase& of, const std::vector<TablePoint>& points);

/// What given rows tell of one stack. By the order of PooledModel::effects().
struct RowFit {
  std::vector<double> mode;
  Spreads before;
  Spreads after;
  double row_spread = 0;          ///< of a row, as a share of its time
  std::vector<SizeChange> rows;   ///< in the order of the points
  std::vector<SizeChange> sizes;  ///< in the order that was asked for
};

/// What a user measured is to be met: every row counts by the square of its distance, however far it is, and to 2 %, or
/// to what the rows of a long table keep from the model. What they do not tell stays as the pool expects. Who decides
/// what runs stays as usual, too: so few rows do not tell. Requires at least one point.
RowFit fit_rows(const RowCase& of, const std::vector<TablePoint>& points, const std::vector<Bytes>& sizes);

}  // namespace athanor
