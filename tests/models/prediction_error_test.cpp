#include "models/software/prediction_error.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/software/calibrated_table.hpp"
#include "models/software/profile.hpp"
#include "sim/config/document.hpp"
#include "sim/config/json_value.hpp"

using namespace athanor;

namespace {

constexpr Bytes kMiB{1 << 20};
constexpr Bytes k64MiB{1 << 26};

/// Of every kind, another one in each band.
std::vector<PredictionError> kinds() {
  std::vector<PredictionError> errors;
  for (const Knowledge known : kKnowledges) {
    for (const bool several : {false, true}) {
      errors.push_back({known, several, SizeBand::small, 0.9, 1.1, 0, 10});
      errors.push_back({known, several, SizeBand::middle, 0.7, 1.5, 0.4, 10});
      errors.push_back({known, several, SizeBand::large, 0.95, 1.08, 0.1, 10});
    }
  }
  return errors;
}

/// Held out as far off as fitted.
CalibratedTable table(const char* name, CollectiveKind kind, std::uint32_t nodes, double small, double middle,
                      double large) {
  const ErrorsByBand errors{small, middle, large};
  return {name, kind, nodes, errors, errors, errors};
}

PredictionError error_at(Bytes size, const OwnErrors& own, Knowledge known = Knowledge::sizes) {
  const auto error = predicted_error(kinds(), known, true, size, own);
  REQUIRE(error);
  return *error;
}

double width(const PredictionError& error) { return std::log(error.high / error.low); }

Profile with_calibration(const std::string& calibration) {
  Profile profile;
  Problems problems;
  read_document(Document::parse(R"({"calibration": )" + calibration + "}", "p.json"), problems,
                [&](Fields& fields) { visit(fields, profile); });
  problems.throw_if_any();
  return profile;
}

}  // namespace

TEST_CASE("an interval is no narrower than what the calibration says of its collective, nodes and band") {
  for (const double off : {0.001, 0.05, 0.2, 0.366, 0.8}) {
    const std::vector<CalibratedTable> tables{table("t", CollectiveKind::all_to_all, 2, off, off / 2, off / 3),
                                              table("u", CollectiveKind::all_reduce, 2, 0.01, 0.01, 0.01)};
    for (const Knowledge known : kKnowledges) {
      const OwnErrors own = own_errors(tables, known, CollectiveKind::all_to_all, 2);
      for (std::int64_t size = 1; size <= std::int64_t{1} << 34; size += std::max<std::int64_t>(1, size / 7)) {
        const double least = size < kMiB.count() ? off : size < k64MiB.count() ? off / 2 : off / 3;
        const PredictionError error = error_at(Bytes{size}, own, known);
        CAPTURE(size);
        CHECK(error.low <= doctest::Approx(1 / (1 + least)));
        CHECK(error.high >= doctest::Approx(1 / (1 - least)));
      }
    }
  }
}

TEST_CASE("ends of intervals are continuous in size, at the edges of bands, too") {
  const std::vector<CalibratedTable> worse{table("t", CollectiveKind::all_reduce, 2, 0.02, 0.5, 0.1)};
  const std::vector<CalibratedTable> better{table("t", CollectiveKind::all_reduce, 2, 0.5, 0.02, 0.3)};
  for (const auto& tables : {std::vector<CalibratedTable>{}, worse, better}) {
    for (const Knowledge known : kKnowledges) {
      const OwnErrors own = own_errors(tables, known, CollectiveKind::all_reduce, 2);
      for (const Bytes edge : {kMiB, k64MiB}) {
        const PredictionError below = error_at(edge - Bytes{1}, own, known);
        const PredictionError above = error_at(edge + Bytes{1}, own, known);
        CHECK(width(above) / width(below) == doctest::Approx(1).epsilon(0.01));
        CHECK(above.low == doctest::Approx(below.low).epsilon(1e-4));
        CHECK(above.shared == doctest::Approx(below.shared).epsilon(1e-4));
      }
      PredictionError before = error_at(Bytes{1'000}, own, known);
      for (double size = 1'000; size < 1e11; size *= 1.02) {
        const PredictionError now = error_at(Bytes{std::llround(size)}, own, known);
        CHECK(std::abs(std::log(now.high / before.high)) < 0.02);
        CHECK(std::abs(std::log(now.low / before.low)) < 0.02);
        before = now;
      }
    }
  }
}

TEST_CASE("away from the edges of bands, a profile without tables is off as its kind") {
  for (const auto& [size, low, high] :
       {std::tuple{Bytes{8}, 0.9, 1.1}, {Bytes{1 << 23}, 0.7, 1.5}, {Bytes{1 << 30}, 0.95, 1.08}}) {
    const PredictionError error = error_at(size, {});
    CHECK(error.low == doctest::Approx(low));
    CHECK(error.high == doctest::Approx(high));
  }
  CHECK(error_at(kMiB, {}).high == doctest::Approx(std::sqrt(1.1 * 1.5)));
  CHECK(!predicted_error({}, Knowledge::sizes, true, kMiB, {}));
}

TEST_CASE("rows of the profile's own take the place of what is known of its kind, the more of them there are") {
  const double own_high = -std::log1p(-0.3);
  double before = std::log(1.08);
  OwnErrors own;
  for (const double rows : {1.0, 4.0, 16.0, 1e6}) {
    own[2] = {.held_out = 0.3, .rows = rows, .prior_rows = 3, .least = 0};
    const double end = std::log(error_at(Bytes{1 << 30}, own).high);
    CHECK(end > before);
    before = end;
  }
  CHECK(before == doctest::Approx(1.2816 * own_high).epsilon(1e-3));  // of a normal distribution
  own[2] = {.held_out = 0, .rows = 4, .prior_rows = 1, .least = 0};
  // t(5, 0.9) / t(1, 0.9) x sqrt(1 / 5) of the kind's.
  CHECK(std::log(error_at(Bytes{1 << 30}, own).high) ==
        doctest::Approx(std::log(1.08) * 1.4759 / 3.0777 / std::sqrt(5)).epsilon(1e-3));
}

TEST_CASE("tables of the same collective and nodes speak, else of one node or several, else what all have in common") {
  const std::vector<CalibratedTable> tables{table("a", CollectiveKind::all_reduce, 1, 0.1, 0.1, 0.1),
                                            table("b", CollectiveKind::all_reduce, 2, 0.2, 0.2, 0.2),
                                            table("c", CollectiveKind::all_reduce, 8, 0.3, 0.3, 0.3),
                                            table("d", CollectiveKind::all_to_all, 2, 0.4, 0.4, 0.4)};
  const auto own = [&](CollectiveKind kind, std::uint32_t nodes, Knowledge known = Knowledge::sizes) {
    return own_errors(tables, known, kind, nodes)[0];
  };
  CHECK(own(CollectiveKind::all_reduce, 1).held_out == doctest::Approx(0.1));
  CHECK(own(CollectiveKind::all_reduce, 2).held_out == doctest::Approx(0.2));
  CHECK(own(CollectiveKind::all_to_all, 4).held_out == doctest::Approx(0.4));
  CHECK(own(CollectiveKind::all_reduce, 4).held_out == doctest::Approx(std::sqrt((0.04 + 0.09) / 2)));
  const double several = std::sqrt((0.04 + 0.09 + 0.16) / 3);
  CHECK(own(CollectiveKind::broadcast, 2).held_out == doctest::Approx(several));
  CHECK(own(CollectiveKind::broadcast, 2).least == doctest::Approx(several));
  CHECK(own(CollectiveKind::broadcast, 2).rows == 3);
  const OwnError tables_known = own(CollectiveKind::all_reduce, 2, Knowledge::tables);
  CHECK(tables_known.held_out == doctest::Approx(several));
  CHECK(tables_known.least == doctest::Approx(0.2));
  CHECK(own(CollectiveKind::all_reduce, 2, Knowledge::nothing).rows == 0);
  CHECK(own_errors({}, Knowledge::sizes, CollectiveKind::all_reduce, 2)[0].rows == 0);
}

TEST_CASE("rows that were fitted, and no others, only widen") {
  CalibratedTable fitted = table("t", CollectiveKind::all_reduce, 2, 0.001, 0.5, 0.001);
  fitted.sizes = fitted.tables = {};
  const OwnErrors own = own_errors({fitted}, Knowledge::sizes, CollectiveKind::all_reduce, 2);
  CHECK(error_at(Bytes{8}, own).high == doctest::Approx(1.1));
  CHECK(error_at(Bytes{1 << 23}, own).high == doctest::Approx(2));
}

TEST_CASE("a calibration is read by table, written again, and the worst of it found") {
  const Profile profile = with_calibration(R"({"date": "today", "fit": {"t": [0.1, null, 0.366], "u": [0.2, 0.3, null]},
      "hold_out_sizes": {"t": [0.2, null, 0.4]}, "tables": {"t": {"collective": "all_to_all", "nodes": 2}}})");
  REQUIRE(profile.calibrated.size() == 2);
  CHECK(profile.calibrated[0].collective == CollectiveKind::all_to_all);
  CHECK(profile.calibrated[0].nodes == 2);
  CHECK(profile.calibrated[0].sizes[2] == doctest::Approx(0.4));
  CHECK(!profile.calibrated[0].fit[1]);
  CHECK(!profile.calibrated[1].collective);
  const WorstFit worst = worst_fit(profile.calibrated);
  CHECK(worst.table == profile.calibrated.data());
  CHECK(worst.band == SizeBand::large);
  CHECK(worst_fit({}).table == nullptr);
  const Profile again = with_calibration(text_of(*json_of(profile).find("calibration")));
  REQUIRE(again.calibrated.size() == 2);
  CHECK(again.calibrated[0].collective == CollectiveKind::all_to_all);
  CHECK(again.calibrated[0].sizes[2] == doctest::Approx(0.4));
  CHECK(again.calibrated[1].fit[0] == doctest::Approx(0.2));
}

TEST_CASE("calibrations on probes have no tables, and what is no error of a band is refused") {
  CHECK(with_calibration(R"({"fit": {"points": 12, "median_error": 0.03}, "probes": [], "machine": {"fit": 1}})")
            .calibrated.empty());
  for (const char* wrong :
       {R"({"fit": {"t": [0.1, 0.2]}})", R"({"fit": {"t": [0.1, 0.2, "a"]}})", R"({"fit": {"t": [0.1, 0.2, -1]}})",
        R"({"fit": {"t": [0.1, 0.2, 0.3, 0.4]}})", R"({"hold_out_sizes": {"t": "a"}})",
        R"({"tables": {"t": {"collective": "all", "nodes": 2}}})",
        R"({"tables": {"t": {"collective": "all_reduce"}}})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(with_calibration(wrong), ScenarioError);
  }
}
