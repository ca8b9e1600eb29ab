#include "models/experiments/scenario/collective_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "sim/format.hpp"

namespace athanor {

void read_kind(ValueReader& value, std::optional<CollectiveKind>& kind) {
  std::vector<std::string> names;
  for (const CollectiveKind each : collective_kinds()) { names.emplace_back(name(each)); }
  std::string text = names[0];
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { kind = collective_kind(text); }
}

namespace {

void read_type(ValueReader& value, DataType& type) {
  std::vector<std::string> names;
  for (const DataType each : data_types()) { names.emplace_back(name(each)); }
  std::string text(name(type));
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { type = data_type(text).value(); }
}

void read_reduction(ValueReader& value, Reduction& reduction) {
  std::vector<std::string> names;
  for (const Reduction each : reductions()) { names.emplace_back(name(each)); }
  std::string text(name(reduction));
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { reduction = athanor::reduction(text).value(); }
}

/// Sides of a grid; zeros stand behind them.
void read_dimensions(ValueReader& value, std::optional<Dimensions>& dimensions) {
  constexpr std::uint32_t kMostSides = Dimensions{}.size();
  Dimensions sides{};
  value.list(
      [&](ValueReader& element) {
        std::uint32_t side = 1;
        element.read(side, Range<std::uint32_t>{1, 1U << 24U});
        if (element.index() < kMostSides) { sides.at(element.index()) = side; }
      },
      {1, kMostSides});
  if (!value.describing() && value.ok()) { dimensions = sides; }
}

void read_overrides(ObjectReader& reader, Overrides& overrides) {
  reader.optional("protocol", overrides.protocol, "Only this protocol of the profile; absent: the fastest");
  reader.optional("channels", overrides.channels, "Side by side; absent: as the profile says", {1, 1024});
  reader.optional("chunk", overrides.chunk, "Most payload of one chunk; absent: as the profile says", {Bytes{1}});
  reader.optional("slices", overrides.slices, "Messages per chunk; absent: as the profile says", {1, 64});
  reader.optional("rotate", overrides.rotate,
                  "Channel c's ring leaves each node from GPU c; absent: as the profile says");
  reader.optional("group", overrides.group, "Ranks per node for hierarchies and rotated rings; absent: the cluster's",
                  {1});
  reader.optional_value("dimensions",
                        "Of torus, mesh and swing, the last varying fastest; absent: the sides of the cluster's torus, "
                        "else those of the least sum",
                        [&](ValueReader& value) { read_dimensions(value, overrides.dimensions); });
  reader.optional("rings", overrides.rings, "Of multi_ring: directed rings at most; absent: 8", {1, 1024});
}

void check_sizes(ObjectReader& reader, const CollectiveSection& section) {
  for (const Bytes size : section.sizes) {
    if (size % size_of(section.type) == Bytes::zero()) { continue; }
    reader.problem("sizes", "not-whole-elements",
                   fmt::format("{} is no whole number of {} elements of {}", to_string(size), name(section.type),
                               to_string(size_of(section.type))),
                   "choose another size or \"type\"");
    return;
  }
}

/// An exchange says how much is sent, and a barrier sends nothing.
void check_payload(ObjectReader& reader, CollectiveSection& section) {
  const bool has_table = section.kind == CollectiveKind::all_to_all_v;
  if (section.exchange && !has_table) {
    reader.problem("exchange", "unknown-key", fmt::format("{} takes no table of sizes", name(section.kind)),
                   "only all_to_all_v does; leave it out");
  } else if (has_table && !reader.has("exchange")) {
    reader.problem("", "missing-key", "all_to_all_v needs \"exchange\": how much every rank sends to every other",
                   R"(a table, the path of one, or {"random": {"least": "0B", "most": "1MiB"}})");
  } else if (has_table && reader.has("sizes")) {
    reader.problem("sizes", "unknown-key", "the sizes of all_to_all_v stand in \"exchange\"", "leave it out");
  }
  if (section.kind == CollectiveKind::barrier && !reader.has("sizes")) { section.sizes = {Bytes::zero()}; }
  if (has_table || section.kind == CollectiveKind::barrier || reader.has("sizes")) { return; }
  reader.problem("", "missing-key", "the key 'sizes' is missing", "as in \"sizes\": \"8B..8GiB\"");
}

}  // namespace

void read(ObjectReader& reader, const CollectiveContext& context, CollectiveSection& section) {
  std::optional<CollectiveKind> kind;
  reader.required_value("kind", "What is done", [&](ValueReader& value) { read_kind(value, kind); });
  read_algorithm_choice(reader, kind, context.imports, context.problems, section.choice);
  reader.optional_value("sizes",
                        "Payloads, as nccl-tests counts them: \"8B..8GiB\" doubles from size to size; required but for "
                        "all_to_all_v and barrier",
                        [&](ValueReader& value) { read_sizes(value, section.sizes); });
  reader.optional_value(
      "exchange", "Of all_to_all_v: rows by sender, the path of a CSV or JSON file with them, or a distribution",
      [&](ValueReader& value) { read_exchange(value, context.directory, context.problems, section.exchange); });
  reader.optional_value("type", "Of the elements", [&](ValueReader& value) { read_type(value, section.type); });
  reader.optional_value("reduction",
                        "By which contributions are combined; it counts where engines do not know them all",
                        [&](ValueReader& value) { read_reduction(value, section.reduction); });
  reader.optional("root", section.root,
                  "The root of broadcast, reduce, gather and scatter; the sender of send_receive");
  reader.optional("in_place", section.in_place, "Are a rank's input and output one buffer, the one within the other?");
  reader.optional("ranks", section.ranks,
                  "How many take part, from endpoint 0 on; absent: every GPU or host, divided by `jobs`", {1});
  read_jobs(reader, context, kind, section.jobs);
  reader.optional("compute", section.compute,
                  "What hosts compute beside it, which then is non-blocking; absent: they wait for it");
  read_overrides(reader, section.overrides);
  if (section.overrides.group) { section.group_place = reader.place("group"); }
  if (reader.describing()) { return; }
  if (kind) {
    section.kind = *kind;
    check_payload(reader, section);
  }
  check_sizes(reader, section);
  if (section.in_place && kind && !Contract({.kind = *kind, .ranks = 2, .count = Elements{2}}).in_place(0)) {
    reader.problem("in_place", "conflict", fmt::format("{} is not done in place", name(*kind)), "leave it out");
  }
}

}  // namespace athanor
