#include "models/software/prediction_error.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "models/software/decimal.hpp"

namespace athanor {

namespace {

/// Where a band ends and the next one begins.
constexpr std::array<Bytes, kSizeBands - 1> kEdges{Bytes{1 << 20}, Bytes{1 << 26}};

Names<SizeBand> band_names() {
  Names<SizeBand> names{};
  for (const SizeBand each : {SizeBand::small, SizeBand::middle, SizeBand::large}) {
    names.named.push_back({name(each), each});
  }
  return names;
}

}  // namespace

std::string_view name(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::sizes: return "sizes";
    case Knowledge::tables: return "tables";
    case Knowledge::two_rows: return "two_rows";
    case Knowledge::nothing: return "nothing";
  }
  return "";
}

SizeBand band_of(Bytes size) {
  return size < kEdges[0] ? SizeBand::small : size < kEdges[1] ? SizeBand::middle : SizeBand::large;
}

std::string_view name(SizeBand band) {
  switch (band) {
    case SizeBand::small: return "below_1MiB";
    case SizeBand::middle: return "to_64MiB";
    case SizeBand::large: return "above";
  }
  return "";
}

void visit(Fields& fields, PredictionError& error) {
  constexpr std::int64_t kMost = 1'000;
  Names<Knowledge> names{};
  for (const Knowledge each : kKnowledges) { names.named.push_back({name(each), each}); }
  fields.required("known", error.knowledge, "What had been measured of the stack before", names);
  fields.required("several_nodes", error.several_nodes, "Between nodes, or within one");
  fields.required("size", error.band, "Of the rows", band_names());
  visit_decimal(fields, "low", error.low, 1, kMost, "A tenth of measured times are less than this x the simulated one");
  visit_decimal(fields, "high", error.high, 1, kMost, "A tenth are more");
  visit_decimal(fields, "shared", error.shared, 0, 1, "Of the errors' variance, what is common to one stack's tables");
  fields.required("tables", error.tables, "That were held out");
}

namespace {

const PredictionError* find(const std::vector<PredictionError>& errors, Knowledge knowledge, bool several_nodes,
                            SizeBand band) {
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const PredictionError& each) {
    return each.knowledge == knowledge && each.several_nodes == several_nodes && each.band == band;
  });
  return found == errors.end() ? nullptr : &*found;
}

}  // namespace

const PredictionError* find(const std::vector<PredictionError>& errors, Knowledge knowledge, bool several_nodes,
                            Bytes size) {
  return find(errors, knowledge, several_nodes, band_of(size));
}

namespace {

/// Of an interval, of measured / simulated: how far its logarithm goes down and up.
struct Reach {
  double down = 0;
  double up = 0;
};

/// Where measured times lie that simulated ones are so much above or below.
Reach reach_of(double error) {
  constexpr double kMost = 0.9;  // an error of -1 is one of times that are endless
  return {std::log1p(error), -std::log1p(-std::min(error, kMost))};
}

/// How far a Student's t goes, on each side, that has 80 % within.
double student(double rows) { return boost::math::quantile(boost::math::students_t(rows), 0.9); }

/// That of the kind with what is known of the profile itself, as predicted_error() says.
Reach with_own(Reach kind, const OwnError& own) {
  if (own.rows <= 0) { return kind; }
  const Reach told = reach_of(own.held_out);
  const double all = own.prior_rows + own.rows;
  const double before = student(own.prior_rows);
  const double after = student(all);
  const auto combined = [&](double end, double own_end) {
    const double scale = std::max(end, 0.0) / before;
    return after * std::sqrt((own.prior_rows * scale * scale + own.rows * own_end * own_end) / all);
  };
  return {combined(kind.down, told.down), combined(kind.up, told.up)};
}

constexpr double kNear = 2;  // a factor of 4, in doublings

double doublings_above(Bytes size, Bytes edge) {
  return std::log2(static_cast<double>(std::max(size.count(), std::int64_t{1})) / static_cast<double>(edge.count()));
}

/// From what holds in each band to what holds at a size.
double between_bands(const std::array<double, kSizeBands>& values, Bytes size) {
  for (std::size_t edge = 0; edge < kEdges.size(); ++edge) {
    const double above = doublings_above(size, kEdges.at(edge));
    if (std::abs(above) >= kNear) { continue; }
    const double share = (above + kNear) / (2 * kNear);
    return values.at(edge) + share * (values.at(edge + 1) - values.at(edge));
  }
  return values.at(static_cast<std::size_t>(band_of(size)));
}

/// The same, nowhere less than what holds in the size's band.
double least_between_bands(const std::array<double, kSizeBands>& values, Bytes size) {
  const auto band = static_cast<std::size_t>(band_of(size));
  double least = values.at(band);
  for (std::size_t edge = 0; edge < kEdges.size(); ++edge) {
    const double away = std::abs(doublings_above(size, kEdges.at(edge)));
    if (away >= kNear) { continue; }
    const double beyond = values.at(band == edge ? edge + 1 : edge);
    least += std::max(beyond - values.at(band), 0.0) * (1 - away / kNear);
  }
  return least;
}

/// One side of an interval at a size.
double reach_at(Bytes size, const std::array<Reach, kSizeBands>& reaches, const std::array<Reach, kSizeBands>& least,
                double Reach::*side) {
  std::array<double, kSizeBands> ends{};
  std::array<double, kSizeBands> least_ends{};
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    ends.at(band) = reaches.at(band).*side;
    least_ends.at(band) = least.at(band).*side;
  }
  const double end = between_bands(ends, size);
  const double floor = least_between_bands(least_ends, size);
  return floor > 0 ? std::max(end, floor) : end;
}

}  // namespace

std::optional<PredictionError> predicted_error(const std::vector<PredictionError>& errors, Knowledge knowledge,
                                               bool several_nodes, Bytes size, const OwnErrors& own) {
  const PredictionError* const here = find(errors, knowledge, several_nodes, size);
  if (here == nullptr) { return std::nullopt; }
  std::array<Reach, kSizeBands> reaches;
  std::array<Reach, kSizeBands> least;
  std::array<double, kSizeBands> shared{};
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    const PredictionError* found = find(errors, knowledge, several_nodes, static_cast<SizeBand>(band));
    if (found == nullptr) { found = here; }
    reaches.at(band) = with_own({-std::log(found->low), std::log(found->high)}, own.at(band));
    least.at(band) = reach_of(own.at(band).least);
    shared.at(band) = found->shared;
  }
  PredictionError result = *here;
  result.low = std::exp(-reach_at(size, reaches, least, &Reach::down));
  result.high = std::exp(reach_at(size, reaches, least, &Reach::up));
  result.shared = between_bands(shared, size);
  return result;
}

}  // namespace athanor
