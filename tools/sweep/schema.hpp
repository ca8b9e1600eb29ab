#pragma once

#include "models/experiments/scenario/sweep/plan.hpp"
#include "tools/sweep/sqlite.hpp"

namespace athanor {

/// Makes the tables of a sweep in an empty file, and the view `flat` for whoever asks it with SQL.
void create_tables(SqliteFile& file, const SweepPlan& plan);

/// Throws FileError for the file of another program, and of another format of sweeps.
void check_format(SqliteFile& file);

/// Throws FileError for whatever a sweep does not make: a table that is a view, a trigger or an index would run code of
/// whoever made the file. The view `flat`, which the plan decides, is checked where a plan is given.
void check_schema(SqliteFile& file, const SweepPlan* plan);

}  // namespace athanor
