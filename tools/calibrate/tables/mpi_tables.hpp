#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/software/figures.hpp"
#include "models/software/profile.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

/// Whether a library of MPI carries out all cases of the tables. Throws UsageError where only some are.
bool are_of_mpi(const Tables& tables);

/// One figure of a profile of MPI, and what is expected of it before any table is looked at.
struct MpiFigure {
  std::string name;  ///< as profiles have it: "node.latency"
  FigureUnit unit = FigureUnit::time;
  double typical = 1;
  double spread = 1;  ///< standard deviation of its logarithm
  double least = 1;   ///< bounds of what is plausible
  double most = 1;
  std::function<double(const Profile&)> get;  ///< in ps, in bytes per second, or a share
  std::function<void(Profile&, double)> set;
};
/// All that a fit finds. `eager`: with the handshake of messages that are not sent at once.
std::vector<MpiFigure> mpi_figures(bool eager);

struct MpiTablesFit {
  Profile profile;
  std::vector<double> residuals;   ///< log(simulated / measured), by row
  std::vector<MpiFigure> figures;  ///< those that were looked for
};

struct MpiTablesFitSettings {
  int evaluations = 400;  ///< of the model by each search, at most
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// The profile of one protocol, "mpi", by which the flow level comes nearest to all rows, each spike told less, and to
/// what is expected of the figures: rows are taken to scatter by a tenth, wild ones counting by their distance alone.
/// First the eager limit is looked for; then figures with sends that end when they are copied and with those that end
/// when they are injected, of which the better counts.
MpiTablesFit fit_mpi_tables(Tables tables, const MpiTablesFitSettings& settings);

}  // namespace athanor
