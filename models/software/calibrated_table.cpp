#include "models/software/calibrated_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "algorithms/schedule/field_names.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

namespace {

constexpr std::array kJudged{std::pair("fit", &CalibratedTable::fit),
                             std::pair("hold_out_sizes", &CalibratedTable::sizes),
                             std::pair("hold_out_tables", &CalibratedTable::tables)};

CalibratedTable& table_of(std::vector<CalibratedTable>& tables, const std::string& name) {
  const auto known =
      std::find_if(tables.begin(), tables.end(), [&](const CalibratedTable& each) { return each.name == name; });
  if (known != tables.end()) { return *known; }
  tables.emplace_back().name = name;
  return tables.back();
}

/// One number for each band, or null.
void read_bands(FieldValue& value, ErrorsByBand& errors) {
  constexpr std::int64_t kMost = 1'000;
  const auto read = [&](FieldValue& element) {
    if (element.json()->is_null() || element.index() >= errors.size()) { return; }  // too many are refused below
    Ratio error;
    element.visit(error, {{0, 1}, {kMost, 1}});
    if (element.ok()) { errors.at(element.index()) = to_double(error); }
  };
  value.list(read, {kSizeBands, kSizeBands});
}

void read_judged(FieldValue& value, ErrorsByBand CalibratedTable::*errors, std::vector<CalibratedTable>& tables) {
  if (!value.json()->is_object()) { return; }
  value.object([&](Fields& fields) {
    fields.entries("By table", [&](const std::string& name, FieldValue& bands) {
      if (bands.json()->is_number()) { return; }  // of calibrations on probes: how many, and their median
      read_bands(bands, table_of(tables, name).*errors);
    });
  });
}

void read_kinds(FieldValue& value, std::vector<CalibratedTable>& tables) {
  const auto read = [&](const std::string& name, FieldValue& of) {
    CalibratedTable& table = table_of(tables, name);
    of.object([&](Fields& fields) {
      CollectiveKind collective = CollectiveKind::all_reduce;
      fields.required("collective", collective, "That was measured", collective_names());
      fields.required("nodes", table.nodes, "Measured together", {1});
      if (fields.ok()) { table.collective = collective; }
    });
  };
  value.object([&](Fields& fields) { fields.entries("What tables are of", read); });
}

JsonValue json_of(const std::vector<CalibratedTable>& tables) {
  JsonValue json = JsonValue::object();
  for (const CalibratedTable& each : tables) {
    for (const auto& [key, errors] : kJudged) {
      const ErrorsByBand& bands = each.*errors;
      if (std::none_of(bands.begin(), bands.end(), [](const auto& error) { return error.has_value(); })) { continue; }
      json[key][each.name] = JsonValue::List(bands.begin(), bands.end());
    }
    if (each.collective) {
      json["tables"][each.name] = {{"collective", name(*each.collective)}, {"nodes", each.nodes}};
    }
  }
  return json;
}

}  // namespace

void visit(FieldValue& value, std::vector<CalibratedTable>& tables) {
  if (value.writing() && !tables.empty()) { value.put(json_of(tables)); }
  if (!value.reading()) { return; }
  const JsonValue whole = *value.json();
  value.object([&](Fields& fields) {
    fields.entries("How the profile was found", [&](const std::string& key, FieldValue& entry) {
      const auto judged =
          std::find_if(kJudged.begin(), kJudged.end(), [&](const auto& each) { return each.first == key; });
      if (judged != kJudged.end()) { return read_judged(entry, judged->second, tables); }
      if (key == "tables") { read_kinds(entry, tables); }
    });
  });
  value.put(whole);
}

namespace {

/// In each band, of what the tables have there, the root of the mean square, and the most.
class Pooled {
 public:
  void add(const ErrorsByBand& errors) {
    for (std::size_t band = 0; band < kSizeBands; ++band) {
      if (!errors.at(band)) { continue; }
      most_.at(band) = std::max(most_.at(band), *errors.at(band));
      squares_.at(band) += *errors.at(band) * *errors.at(band);
      ++counts_.at(band);
    }
  }
  double count(std::size_t band) const { return counts_.at(band); }
  // 0 of none.
  double most(std::size_t band) const { return most_.at(band); }
  double mean(std::size_t band) const { return std::sqrt(squares_.at(band) / std::max(counts_.at(band), 1.0)); }

 private:
  std::array<double, kSizeBands> most_{};
  std::array<double, kSizeBands> squares_{};
  std::array<double, kSizeBands> counts_{};
};

using Chosen = std::vector<const CalibratedTable*>;

Chosen chosen(const std::vector<CalibratedTable>& tables, const std::function<bool(const CalibratedTable&)>& counts) {
  Chosen result;
  for (const CalibratedTable& each : tables) {
    if (counts(each)) { result.push_back(&each); }
  }
  return result;
}

/// Those of the collective itself.
Chosen of_collective(const std::vector<CalibratedTable>& tables, CollectiveKind collective, std::uint32_t nodes) {
  const auto same = [&](const CalibratedTable& each) { return each.collective == collective; };
  Chosen result = chosen(tables, [&](const auto& each) { return same(each) && each.nodes == nodes; });
  if (!result.empty()) { return result; }
  return chosen(tables, [&](const auto& each) { return same(each) && (each.nodes > 1) == (nodes > 1); });
}

Chosen alike(const std::vector<CalibratedTable>& tables, std::uint32_t nodes) {
  return chosen(tables, [&](const auto& each) { return each.nodes == 0 || (each.nodes > 1) == (nodes > 1); });
}

/// On other sizes of a collective that was measured: rows of a table are off alike, so that they count as a few.
constexpr double kRowsOfTable = 4;
/// As many rows the spread of the kind counts as; of single collectives, and of all that a profile predicts unmeasured.
constexpr double kPriorOfTables = 1;
constexpr double kPriorOfProfiles = 3;

}  // namespace

OwnErrors own_errors(const std::vector<CalibratedTable>& tables, Knowledge knowledge, CollectiveKind collective,
                     std::uint32_t nodes) {
  const Chosen all = alike(tables, nodes);
  const Chosen same = of_collective(tables, collective, nodes);
  const bool measured = knowledge == Knowledge::sizes && !same.empty();
  Pooled fit;
  Pooled sizes;
  for (const CalibratedTable* each : same.empty() ? all : same) {
    fit.add(each->fit);
    sizes.add(each->sizes);
  }
  Pooled unmeasured;
  for (const CalibratedTable* each : all) { unmeasured.add(each->tables); }
  OwnErrors own;
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    OwnError& error = own.at(band);
    error.least =
        same.empty() ? std::max(fit.mean(band), sizes.mean(band)) : std::max(fit.most(band), sizes.most(band));
    if (measured && sizes.count(band) > 0) {
      error.held_out = sizes.mean(band);
      error.rows = kRowsOfTable * sizes.count(band);
      error.prior_rows = kPriorOfTables;
    } else if (knowledge == Knowledge::sizes || knowledge == Knowledge::tables) {
      error.held_out = unmeasured.mean(band);
      error.rows = unmeasured.count(band);
      error.prior_rows = kPriorOfProfiles;
    }
  }
  return own;
}

WorstFit worst_fit(const std::vector<CalibratedTable>& tables) {
  WorstFit worst;
  for (const CalibratedTable& table : tables) {
    for (std::size_t band = 0; band < kSizeBands; ++band) {
      const std::optional<double>& error = table.fit.at(band);
      if (!error || (worst.table != nullptr && *error <= worst.error)) { continue; }
      worst = {&table, static_cast<SizeBand>(band), *error};
    }
  }
  return worst;
}

}  // namespace athanor
