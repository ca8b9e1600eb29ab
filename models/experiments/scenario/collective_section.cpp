#include "models/experiments/scenario/collective_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/field_names.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

/// Sides of a grid; zeros stand behind them.
void read_dimensions(FieldValue& value, std::optional<Dimensions>& dimensions) {
  constexpr std::uint32_t kMostSides = Dimensions{}.size();
  Dimensions sides{};
  value.list(
      [&](FieldValue& element) {
        std::uint32_t side = 1;
        element.visit(side, Range<std::uint32_t>{1, 1U << 24U});
        if (element.index() < kMostSides) { sides.at(element.index()) = side; }
      },
      {1, kMostSides});
  if (value.ok()) { dimensions = sides; }
}

void read_overrides(Fields& fields, Overrides& overrides) {
  fields.optional("protocol", overrides.protocol, "Only this protocol of the profile; absent: the fastest");
  fields.optional("channels", overrides.channels, "Side by side; absent: as the profile says", {1, 1024});
  fields.optional("chunk", overrides.chunk, "Most payload of one chunk; absent: as the profile says", {Bytes{1}});
  fields.optional("slices", overrides.slices, "Messages per chunk; absent: as the profile says", {1, 64});
  fields.optional("rotate", overrides.rotate,
                  "Channel c's ring leaves each node from GPU c; absent: as the profile says");
  fields.optional("group", overrides.group, "Ranks per node for hierarchies and rotated rings; absent: the cluster's",
                  {1});
  fields.optional_value("dimensions",
                        "Of torus, mesh and swing, the last varying fastest; absent: the sides of the cluster's torus, "
                        "else those of the least sum",
                        [&](FieldValue& value) { read_dimensions(value, overrides.dimensions); });
  fields.optional("rings", overrides.rings, "Of multi_ring: directed rings at most; absent: 8", {1, 1024});
}

void check_sizes(Fields& fields, const CollectiveSection& section) {
  for (const Bytes size : section.sizes) {
    if (size % size_of(section.type) == Bytes::zero()) { continue; }
    fields.problem("sizes", "not-whole-elements",
                   fmt::format("{} is no whole number of {} elements of {}", to_string(size), name(section.type),
                               to_string(size_of(section.type))),
                   "choose another size or \"type\"");
    return;
  }
}

/// An exchange says how much is sent, and a barrier sends nothing.
void check_payload(Fields& fields, CollectiveSection& section) {
  const bool has_table = section.kind == CollectiveKind::all_to_all_v;
  if (section.exchange && !has_table) {
    fields.problem("exchange", "unknown-key", fmt::format("{} takes no table of sizes", name(section.kind)),
                   "only all_to_all_v does; leave it out");
  } else if (has_table && !fields.has("exchange")) {
    fields.problem("", "missing-key", "all_to_all_v needs \"exchange\": how much every rank sends to every other",
                   R"(a table, the path of one, or {"random": {"least": "0B", "most": "1MiB"}})");
  } else if (has_table && fields.has("sizes")) {
    fields.problem("sizes", "unknown-key", "the sizes of all_to_all_v stand in \"exchange\"", "leave it out");
  }
  if (section.kind == CollectiveKind::barrier && !fields.has("sizes")) { section.sizes = {Bytes::zero()}; }
  if (has_table || section.kind == CollectiveKind::barrier || fields.has("sizes")) { return; }
  fields.problem("", "missing-key", "the key 'sizes' is missing", "as in \"sizes\": \"8B..8GiB\"");
}

}  // namespace

void visit(Fields& fields, const CollectiveContext& context, CollectiveSection& section) {
  std::optional<CollectiveKind> kind;
  fields.required("kind", kind, "What is done", collective_names());
  read_algorithm_choice(fields, kind, context.imports, context.problems, section.choice);
  fields.optional_value(
      "sizes",
      "Payloads, as nccl-tests counts them: \"8B..8GiB\" doubles from size to size, \"8B..8GiB*4\" has "
      "a factor of 4; required but for all_to_all_v and barrier",
      [&](FieldValue& value) { read_sizes(value, section.sizes); });
  fields.optional_value(
      "exchange", "Of all_to_all_v: rows by sender, the path of a CSV or JSON file with them, or a distribution",
      [&](FieldValue& value) { read_exchange(value, context.files, context.problems, section.exchange); });
  fields.optional("type", section.type, "Of the elements", type_names());
  fields.optional("reduction", section.reduction,
                  "By which contributions are combined; it counts where engines do not know them all",
                  reduction_names());
  fields.optional("root", section.root,
                  "The root of broadcast, reduce, gather and scatter; the sender of send_receive");
  fields.optional("in_place", section.in_place, "Are a rank's input and output one buffer, the one within the other?");
  fields.optional("ranks", section.ranks,
                  "How many take part, from endpoint 0 on; absent: every GPU or host, divided by `jobs`", {1});
  read_jobs(fields, context, kind, section.jobs);
  fields.optional("calls", section.calls,
                  "So many calls back to back, of which each rank begins the next when it is done with its own part; "
                  "absent: 1, and 20 where `verify` names a table of nccl-tests, which does so",
                  {1, 1'000'000});
  fields.optional("compute", section.compute,
                  "What hosts compute beside it, which then is non-blocking; absent: they wait for it");
  read_overrides(fields, section.overrides);
  if (section.overrides.group) { section.group_place = fields.place("group"); }
  if (!fields.reading()) { return; }
  if (kind) {
    section.kind = *kind;
    check_payload(fields, section);
  }
  check_sizes(fields, section);
  if (section.in_place && kind && !Contract({.kind = *kind, .ranks = 2, .count = Elements{2}}).in_place(0)) {
    fields.problem("in_place", "conflict", fmt::format("{} is not done in place", name(*kind)), "leave it out");
  }
}

}  // namespace athanor
