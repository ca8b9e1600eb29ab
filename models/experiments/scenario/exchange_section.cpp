#include "models/experiments/scenario/exchange_section.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

using Row = std::vector<Bytes>;
constexpr std::uint32_t kMostExponent = 4;

/// One line of a CSV table; what is wrong with it is added to `problems`.
Row parse_row(std::string_view line, const SourceLocation& place, Problems& problems) {
  Row row;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view cell = line.substr(begin, end - begin);
    while (!cell.empty() && cell.front() == ' ') { cell.remove_prefix(1); }
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) { cell.remove_suffix(1); }
    std::int64_t bytes = 0;
    const auto [stop, mistake] = std::from_chars(cell.data(), cell.data() + cell.size(), bytes);
    if (mistake != std::errc() || stop != cell.data() + cell.size() || bytes < 0) {
      SourceLocation here = place;
      here.column = static_cast<int>(begin) + 1;
      problems.add({"wrong-type", fmt::format("'{}' is not a whole number of bytes", cell), here,
                    "write numbers without a unit, with commas between, a line per sender"});
      return {};
    }
    row.emplace_back(bytes);
    begin = end + 1;
  }
  return row;
}

ExchangeConfig read_csv(const FileReader& files, const std::string& name, Problems& problems) {
  const std::string path = files.path(name);
  const std::string text = files.text(name);
  ExchangeConfig exchange;
  exchange.place.file = path;
  int line = 0;
  for (std::size_t begin = 0; begin < text.size() && problems.empty();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = std::string_view(text).substr(begin, end - begin);
    ++line;
    if (row.find_first_not_of(" \r") != std::string_view::npos) {
      exchange.rows.push_back(parse_row(row, {path, line, 0, ""}, problems));
    }
    begin = end + 1;
  }
  return exchange;
}

void read_rows(FieldValue& value, std::vector<Row>& rows) {
  value.list([&](FieldValue& row) {
    Row sizes;
    row.list([&](FieldValue& cell) {
      Bytes size;
      cell.visit(size, Range<Bytes>{Bytes::zero()});
      sizes.push_back(size);
    });
    rows.push_back(std::move(sizes));
  });
}

ExchangeConfig read_json(const FileReader& files, const std::string& name, Problems& problems) {
  ExchangeConfig exchange;
  const Document document = Document::load(files, name);
  read_document(document, problems, [&](Fields& fields) {
    fields.required_value("exchange", "A row per sender", [&](FieldValue& value) {
      read_rows(value, exchange.rows);
      exchange.place = value.place();
    });
  });
  return exchange;
}

void read_file(FieldValue& value, const FileReader& files, Problems& problems, ExchangeConfig& exchange) {
  const auto text = value.text();
  if (!text) { return; }
  try {
    exchange = read_exchange_file(files, *text, problems);
  } catch (const FileError& error) {
    value.problem("no-exchange", error.what(), "a path is relative to the scenario's file");
  }
}

void visit_random(Fields& fields, RandomExchange& random) {
  fields.required("least", random.least, "Smallest block", {Bytes::zero()});
  fields.required("most", random.most, "Largest block", {Bytes::zero()});
  if (random.most < random.least) {
    fields.problem("most", "empty-range", "the largest block is smaller than the smallest", "swap them");
  }
}

void visit_zipf(Fields& fields, ZipfExchange& zipf) {
  fields.required("payload", zipf.payload, "What every rank sends in all, its own block included", {Bytes::zero()});
  fields.optional("exponent", zipf.exponent, "0: all alike", {0, kMostExponent});
}

void read_distribution(Fields& fields, ExchangeConfig& exchange) {
  fields.optional_object("random", exchange.random, "Blocks of any size in a range", visit_random);
  fields.optional_object("zipf", exchange.zipf, "Popular receivers get more, as 1/k^exponent", visit_zipf);
  if (fields.ok() && exchange.random.has_value() == exchange.zipf.has_value()) {
    fields.problem("", "missing-key", "an exchange is drawn from one distribution",
                   R"(write {"random": {"least": "0B", "most": "1MiB"}} or {"zipf": {"payload": "64MiB"}})");
  }
}

/// Reports what is no whole number of elements.
Elements in_elements(Bytes size, Bytes element, const SourceLocation& place, Problems& problems) {
  if (size % element != Bytes::zero()) {
    problems.add({"not-whole-elements",
                  fmt::format("the exchange has {}, which is no whole number of elements of {}", to_string(size),
                              to_string(element)),
                  place, "choose another size or \"type\""});
  }
  return Elements{size / element};
}

std::vector<Elements> from_rows(const ExchangeConfig& exchange, std::uint32_t ranks, Bytes element,
                                Problems& problems) {
  const auto wrong =
      std::find_if(exchange.rows.begin(), exchange.rows.end(), [&](const Row& row) { return row.size() != ranks; });
  if (exchange.rows.size() != ranks || wrong != exchange.rows.end()) {
    const std::string has = exchange.rows.size() == ranks
                                ? fmt::format("row {} has {} sizes", wrong - exchange.rows.begin() + 1, wrong->size())
                                : fmt::format("it has {} rows", exchange.rows.size());
    problems.add({"does-not-fit",
                  fmt::format("the exchange of {} ranks has {} rows of {} sizes, but {}", ranks, ranks, ranks, has),
                  exchange.place, "a row per sender, and in it a size per receiver, the sender too"});
    return {};
  }
  std::vector<Elements> sizes;
  sizes.reserve(std::size_t{ranks} * ranks);
  for (const Row& row : exchange.rows) {
    for (const Bytes size : row) {
      sizes.push_back(in_elements(size, element, exchange.place, problems));
      if (!problems.empty()) { return {}; }
    }
  }
  return sizes;
}

std::vector<Elements> drawn(Elements least, Elements most, std::uint32_t ranks, std::uint64_t seed) {
  RandomStream stream(seed, "exchange");
  const auto choices = static_cast<std::uint64_t>((most - least).count()) + 1;
  std::vector<Elements> sizes;
  sizes.reserve(std::size_t{ranks} * ranks);
  for (std::size_t i = 0; i < std::size_t{ranks} * ranks; ++i) {
    sizes.push_back(least + Elements{static_cast<std::int64_t>(stream.below(choices))});
  }
  return sizes;
}

/// Whole elements of a payload in proportion to 2^32 / k^exponent; what rounding leaves goes to the most popular.
std::vector<Elements> zipf_shares(Elements payload, std::uint32_t ranks, std::uint32_t exponent) {
  std::vector<std::uint64_t> weights;
  std::uint64_t total = 0;
  for (std::uint64_t k = 1; k <= ranks; ++k) {
    std::uint64_t weight = std::uint64_t{1} << 32U;
    for (std::uint32_t power = 0; power < exponent; ++power) { weight /= k; }
    weights.push_back(weight);
    total += weight;
  }
  std::vector<Elements> shares;
  Elements left = payload;
  for (const std::uint64_t weight : weights) {
    shares.emplace_back(static_cast<std::int64_t>(Wide{payload.count()} * weight / total));
    left -= shares.back();
  }
  shares.front() += left;
  return shares;
}

std::vector<Elements> by_popularity(Elements payload, std::uint32_t exponent, std::uint32_t ranks, std::uint64_t seed) {
  const std::vector<Elements> shares = zipf_shares(payload, ranks, exponent);
  std::vector<std::uint32_t> places;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) { places.push_back(rank); }
  RandomStream(seed, "exchange").shuffle(places);
  std::vector<Elements> sizes;
  sizes.reserve(std::size_t{ranks} * ranks);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) { sizes.push_back(shares[places[to]]); }
  }
  return sizes;
}

}  // namespace

void read_exchange(FieldValue& value, const FileReader& files, Problems& problems,
                   std::optional<ExchangeConfig>& exchange) {
  ExchangeConfig read;
  const std::size_t before = problems.size();
  value.one_of({{Type::list, [&](FieldValue& table) { read_rows(table, read.rows); }},
                {Type::string, [&](FieldValue& path) { read_file(path, files, problems, read); }},
                {Type::object, [&](FieldValue& object) {
                   object.object([&](Fields& fields) { read_distribution(fields, read); });
                 }}});
  if (!value.ok() || problems.size() != before) { return; }
  if (read.place.file.empty()) { read.place = value.place(); }
  exchange = std::move(read);
}

ExchangeConfig read_exchange_file(const FileReader& files, const std::string& name, Problems& problems) {
  return name.ends_with(".json") ? read_json(files, name, problems) : read_csv(files, name, problems);
}

std::shared_ptr<const AllToAllVSizes> make_exchange(const ExchangeConfig& exchange, std::uint32_t ranks, Bytes element,
                                                    std::uint64_t seed, Problems& problems) {
  Problems found;
  const auto elements = [&](Bytes size) { return in_elements(size, element, exchange.place, found); };
  std::vector<Elements> sizes;
  if (exchange.random) {
    sizes = drawn(elements(exchange.random->least), elements(exchange.random->most), ranks, seed);
  } else if (exchange.zipf) {
    sizes = by_popularity(elements(exchange.zipf->payload), exchange.zipf->exponent, ranks, seed);
  } else {
    sizes = from_rows(exchange, ranks, element, found);
  }
  for (const Problem& problem : found.list()) { problems.add(problem); }
  return found.empty() ? std::make_shared<const AllToAllVSizes>(ranks, sizes) : nullptr;
}

}  // namespace athanor
