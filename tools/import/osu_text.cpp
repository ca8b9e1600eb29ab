#include "tools/import/osu_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace athanor {

namespace {

/// A test by what stands in its title, and how its sizes become payloads.
struct Test {
  std::string_view title;
  CollectiveKind kind;
  bool per_rank;  ///< the size is one rank's part of the payload
  bool pair;      ///< of two processes
};
/// Titles that hold others stand before them.
constexpr std::array<Test, 13> kTests{{{"Allreduce", CollectiveKind::all_reduce, false, false},
                                       {"Allgather", CollectiveKind::all_gather, true, false},
                                       {"Reduce_scatter", CollectiveKind::reduce_scatter, false, false},
                                       {"All-to-All", CollectiveKind::all_to_all, true, false},
                                       {"Alltoall", CollectiveKind::all_to_all, true, false},
                                       {"Broadcast", CollectiveKind::broadcast, false, false},
                                       {"Bcast", CollectiveKind::broadcast, false, false},
                                       {"Reduce", CollectiveKind::reduce, false, false},
                                       {"Gather", CollectiveKind::gather, true, false},
                                       {"Scatter", CollectiveKind::scatter, true, false},
                                       {"Barrier", CollectiveKind::barrier, false, false},
                                       {"Latency Test", CollectiveKind::send_receive, false, true},
                                       {"Bandwidth Test", CollectiveKind::send_receive, false, true}}};

enum class OsuColumn : std::uint8_t { size, average, least, bandwidth, iterations, validation, other };

/// Titles of columns, which hold single blanks, stand at least two blanks apart.
std::vector<std::string> titles(std::string_view line) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) { return found; }
    line.remove_prefix(begin);
    const std::size_t end = std::min({line.find("  "), line.find('\t'), line.size()});
    found.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

OsuColumn column(const std::string& title) {
  if (title == "Size") { return OsuColumn::size; }
  if (title.starts_with("Avg Lat") || title.starts_with("Latency")) { return OsuColumn::average; }
  if (title.starts_with("Min Lat")) { return OsuColumn::least; }
  if (title.starts_with("Bandwidth")) { return OsuColumn::bandwidth; }
  if (title == "Iterations") { return OsuColumn::iterations; }
  if (title == "Validation") { return OsuColumn::validation; }
  return OsuColumn::other;
}

class OsuText {
 public:
  OsuText(std::string file, const ImportHints& hints, Measurement& measurement, Problems& problems)
      : hints_(hints), measurement_(measurement), rows_(std::move(file), measurement, problems) {}

  void read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) { see(number, line); });
    if (tables_ == 0) {
      rows_.problem(1, "not-a-table", "there is no table of the OSU micro-benchmarks here: no line \"# Size ...\"",
                    "give the whole output of a test, or name another --format");
    }
    const std::int64_t nodes = hints_.nodes.value_or(1);
    const std::int64_t ranks = measurement_.rows.empty() ? 1 : measurement_.rows.front().ranks;
    measurement_.hardware_facts = {{"gpu", hints_.hardware.empty() ? "unknown" : hints_.hardware},
                                   {"nodes", nodes},
                                   {"gpus_per_node", std::max<std::int64_t>(1, ranks / nodes)},
                                   {"ranks", ranks}};
    measurement_.software_facts = {{"bench", bench_.empty() ? "unknown" : bench_}};
    for (Measurement::Row& row : measurement_.rows) { row.algorithm = "auto"; }
  }

 private:
  void see(int number, std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) { return; }
    line.remove_prefix(first);
    if (line.starts_with("# OSU")) {
      see_title(number, line);
    } else if (line[0] == '#') {
      see_header(number, line.substr(1));
    } else if (test_ != nullptr && !columns_.empty() && line[0] >= '0' && line[0] <= '9') {
      see_row(number, words_of_line(line));
    }
  }

  void see_title(int number, std::string_view line) {
    columns_.clear();
    test_ = nullptr;
    bench_ = std::string(line.substr(2));
    if (line.find("Bi-Directional") != std::string_view::npos || line.find("Multi") != std::string_view::npos ||
        line.find("Non-blocking") != std::string_view::npos || line.find("One Sided") != std::string_view::npos ||
        line.find("Put") != std::string_view::npos || line.find("Get") != std::string_view::npos) {
      return refuse_title(number);
    }
    for (const Test& test : kTests) {
      if (line.find(test.title) == std::string_view::npos) { continue; }
      test_ = &test;
      return;
    }
    refuse_title(number);
  }

  void refuse_title(int number) {
    ++tables_;
    rows_.problem(number, "unknown-collective", fmt::format("'{}' times nothing that athanor does", bench_),
                  "blocking collectives, osu_latency and osu_bw can be imported");
  }

  void see_header(int number, std::string_view line) {
    const std::vector<std::string> names = titles(line);
    const bool barrier = test_ != nullptr && test_->kind == CollectiveKind::barrier;
    if (names.empty() || test_ == nullptr || (names[0] != "Size" && !(barrier && names[0].starts_with("Avg")))) {
      return;
    }
    columns_.clear();
    rows_.begin_table();
    ++tables_;
    for (const std::string& name : names) {
      columns_.push_back(column(name));
      const std::size_t bracket = name.find('(');
      const std::string unit = bracket == std::string::npos ? "" : name.substr(bracket);
      const bool known = unit.empty() || unit == "(us)" || unit == "(MB/s)" || columns_.back() == OsuColumn::other;
      if (known) { continue; }
      rows_.problem(number, "unit", fmt::format("the column '{}' is neither in us nor in MB/s", name),
                    "convert the table first; other units are not guessed");
      columns_.clear();
      return;
    }
  }

  void see_row(int number, const std::vector<std::string_view>& words) {
    if (words.size() < columns_.size()) {
      rows_.problem(number, "truncated-row",
                    fmt::format("this row has {} values where the table has {} columns", words.size(), columns_.size()),
                    "complete the row or remove it");
      return;
    }
    const std::uint32_t ranks = hints_.ranks.value_or(test_->pair ? 2 : 0);
    if (ranks == 0) {
      if (!ranks_missing_) {
        rows_.problem(number, "unknown-ranks", "OSU does not print how many ranks took part", "add --ranks N");
      }
      ranks_missing_ = true;
      return;
    }
    Measurement::Row row{.bytes = {}, .ranks = ranks, .collective = hints_.collective.value_or(test_->kind)};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!read_value(columns_[i], words[i], row)) {
        rows_.problem(number, "not-a-number", fmt::format("'{}' is not what this column holds", words[i]));
        return;
      }
    }
    if (test_->per_rank) { row.bytes = row.bytes * ranks; }
    rows_.add(number, std::move(row));
  }

  static bool read_value(OsuColumn column, std::string_view word, Measurement::Row& row) {
    if (column == OsuColumn::other) { return true; }
    if (column == OsuColumn::validation) {
      row.wrong = word == "Pass" || word == "pass" || word == "-" ? 0 : 1;
      return true;
    }
    const auto number = number_of(word);
    if (!number || (*number < 0 && column != OsuColumn::average)) { return false; }
    switch (column) {
      case OsuColumn::size:
        row.bytes = Bytes{whole_number_of(word).value_or(0)};
        return whole_number_of(word).has_value();
      case OsuColumn::average: row.time_us = *number; return true;
      case OsuColumn::least: row.min_us = *number; return true;
      case OsuColumn::bandwidth: row.busbw_gbps = *number / 1000; return true;
      case OsuColumn::iterations:
        if (*number > UINT32_MAX) { return false; }
        row.iterations = static_cast<std::uint32_t>(*number);
        return true;
      case OsuColumn::validation:
      case OsuColumn::other: break;
    }
    return true;
  }

  const ImportHints& hints_;
  Measurement& measurement_;
  ImportedRows rows_;
  const Test* test_ = nullptr;
  std::vector<OsuColumn> columns_;
  std::string bench_;
  int tables_ = 0;
  bool ranks_missing_ = false;
};

}  // namespace

void import_osu_text(std::string_view text, const std::string& file, const ImportHints& hints, Measurement& measurement,
                     Problems& problems) {
  OsuText(file, hints, measurement, problems).read(text);
}

}  // namespace athanor
