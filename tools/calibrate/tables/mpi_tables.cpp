#include "tools/calibrate/tables/mpi_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kParts = 10'000;  ///< in which a share is written
constexpr double kMicrosecond = 1e3 * kNanosecond;

Protocol& protocol_of(Profile& profile) { return profile.protocols.front(); }
const Protocol& protocol_of(const Profile& profile) { return profile.protocols.front(); }

struct Expected {
  double typical;
  double spread;
  double least;
  double most;
};

/// `reach` finds the cost in a constant and in another profile alike. Expectations in `scale` of the cost's unit.
template <class Reach>
MpiFigure figure(const char* name, FigureUnit unit, double scale, Expected expected, Reach reach) {
  return {name,
          unit,
          expected.typical * scale,
          expected.spread,
          expected.least * scale,
          expected.most * scale,
          [reach](const Profile& profile) { return static_cast<double>(reach(profile).count()); },
          [reach](Profile& profile, double value) {
            auto& cost = reach(profile);
            cost = std::decay_t<decltype(cost)>{std::llround(value)};
          }};
}

/// Expectations in us.
template <class Reach>
MpiFigure time(const char* name, Expected expected, Reach reach) {
  return figure(name, FigureUnit::time, kMicrosecond, expected, reach);
}

/// Expectations in GB/s.
template <class Reach>
MpiFigure rate(const char* name, Expected expected, Reach reach) {
  return figure(name, FigureUnit::bandwidth, kGigabyte, expected, reach);
}

MpiFigure network_efficiency() {
  return {"network.efficiency",
          FigureUnit::share,
          0.9,
          0.2,
          0.02,
          1,
          [](const Profile& profile) { return to_double(protocol_of(profile).network.efficiency); },
          [](Profile& profile, double value) {
            protocol_of(profile).network.efficiency = {
                std::clamp<std::int64_t>(std::llround(value * kParts), 1, kParts), kParts};
          }};
}

Profile first_guess(std::vector<MpiFigure> figures, SendEnd end, Bytes eager) {
  Profile profile;
  profile.overlapped = false;
  Protocol protocol;
  protocol.name = "mpi";
  protocol.send_end = end;
  protocol.eager = eager;
  profile.protocols = {protocol};
  for (const MpiFigure& figure : figures) { figure.set(profile, figure.typical); }
  return profile;
}

class Fitting {
 public:
  Fitting(Tables& tables, const MpiTablesFitSettings& settings) : tables_(tables), settings_(settings) {}

  MpiTablesFit run() {
    Bytes eager = Bytes::max();
    double least = std::numeric_limits<double>::max();
    MpiTablesFit best;
    const auto keep = [&](MpiTablesFit tried) {
      const double error = error_of(tried.figures, tried.profile);
      if (error >= least) { return false; }
      least = error;
      best = std::move(tried);
      return true;
    };
    settings_.progress("without an eager limit");
    keep(fitted(SendEnd::injected, eager));
    for (std::int64_t limit = 1 << 10; limit <= 64 << 10; limit *= 2) {
      settings_.progress(fmt::format("an eager limit of {} KiB", limit >> 10));
      if (keep(fitted(SendEnd::injected, Bytes{limit}))) { eager = Bytes{limit}; }
    }
    settings_.progress("sends that are copied");
    keep(fitted(SendEnd::copied, eager));
    best.residuals = residuals(best.profile);
    return best;
  }

 private:
  MpiTablesFit fitted(SendEnd end, Bytes eager) {
    const std::vector<MpiFigure> figures = mpi_figures(eager != Bytes::max());
    Profile profile = first_guess(figures, end, eager);
    std::vector<SearchRange> ranges;
    for (const MpiFigure& figure : figures) { ranges.push_back({figure.typical, figure.least, figure.most}); }
    const auto error = [&](const std::vector<double>& values) {
      for (std::size_t i = 0; i < figures.size(); ++i) { figures[i].set(profile, values[i]); }
      return error_of(figures, profile);
    };
    const std::vector<double> found = least_error(ranges, 2, settings_.evaluations, error);
    for (std::size_t i = 0; i < figures.size(); ++i) { figures[i].set(profile, found[i]); }
    return {profile, {}, figures};
  }

  /// Of rows by their scatter, and of figures by their spread.
  double error_of(const std::vector<MpiFigure>& figures, const Profile& profile) {
    constexpr double kScatter = 0.1;
    constexpr double kSpike = 0.2;  // what an isolated row weighs
    double sum = 0;
    const std::vector<double> off = residuals(profile);
    for (std::size_t i = 0; i < off.size(); ++i) {
      sum += robust_loss(std::exp(off[i])) / (kScatter * kScatter) * (tables_.rows[i].spike ? kSpike : 1);
    }
    for (const MpiFigure& figure : figures) {
      const double away = std::log(figure.get(profile) / figure.typical) / figure.spread;
      sum += away * away;
    }
    return sum;
  }

  std::vector<double> residuals(const Profile& profile) {
    const auto shared = std::make_shared<const Profile>(profile);
    for (Tables::MeasuredCase& each : tables_.cases) { each.platform.profile = shared; }
    std::vector<double> result;
    for (TableRow& row : tables_.rows) {
      row.times = std::make_shared<RowTimes>();  // which know nothing of what sums and handshakes cost
      result.push_back(std::log(simulated_us(tables_.cases[row.in_case], row) / row.measured_us));
    }
    return result;
  }

  Tables& tables_;
  const MpiTablesFitSettings& settings_;
};

}  // namespace

bool are_of_mpi(const Tables& tables) {
  const auto of_mpi = std::count_if(tables.cases.begin(), tables.cases.end(),
                                    [](const Tables::MeasuredCase& each) { return each.setup.mpi.has_value(); });
  if (of_mpi > 0 && of_mpi < std::ssize(tables.cases)) {
    throw UsageError("calibrate: --tables: some cases are of a library of MPI and some are not; fit them apart");
  }
  return of_mpi > 0;
}

std::vector<MpiFigure> mpi_figures(bool eager) {
  std::vector<MpiFigure> figures{
      time(
          "overhead", {0.2, 1, 0.005, 100}, [](auto& profile) -> auto& { return protocol_of(profile).overhead; }),
      time(
          "node.latency", {0.5, 0.7, 0.02, 50},
          [](auto& profile) -> auto& { return protocol_of(profile).node.latency; }),
      time(
          "network.latency", {2, 1.5, 0.1, 1000},
          [](auto& profile) -> auto& { return protocol_of(profile).network.latency; }),
      rate(
          "node.rate", {5, 0.7, 0.05, 200}, [](auto& profile) -> auto& { return protocol_of(profile).node.rate; }),
      rate(
          "reduce_rate", {5, 0.7, 0.05, 200}, [](auto& profile) -> auto& { return profile.reduce_rate; }),
      network_efficiency()};
  if (eager) {
    figures.push_back(time(
        "handshake", {2, 1, 0.02, 1000}, [](auto& profile) -> auto& { return protocol_of(profile).handshake; }));
  }
  return figures;
}

MpiTablesFit fit_mpi_tables(Tables tables, const MpiTablesFitSettings& settings) {
  return Fitting(tables, settings).run();
}

}  // namespace athanor
