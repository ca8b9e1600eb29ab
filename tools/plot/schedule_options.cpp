#include "tools/plot/schedule_options.hpp"

#include <memory>
#include <vector>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/option_values.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostRanks = 1024;

std::string needed(const Invocation& invocation, const char* option) {
  if (!invocation.has(option)) { throw UsageError(fmt::format("plot: --{} is missing", option)); }
  return invocation.text(option);
}

Layout layout_of(const Invocation& invocation) {
  Layout layout;
  layout.channels = number_option("plot", invocation, "channels", 1).value_or(1);
  layout.slices = number_option("plot", invocation, "slices", 1).value_or(1);
  layout.group = number_option("plot", invocation, "group", 1).value_or(0);
  layout.shape = GridShape{dimensions_option("plot", invocation, "dimensions")};
  if (const auto chunk = number_option("plot", invocation, "chunk", 1)) { layout.chunk = Elements{*chunk}; }
  return layout;
}

/// All blocks of an all-to-all-v alike, and as many elements as fill them.
void even_sizes(Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const auto each = Elements{std::max<std::int64_t>(1, collective.count.count() / ranks)};
  collective.sizes = std::make_shared<AllToAllVSizes>(ranks, std::vector<Elements>(std::size_t{ranks} * ranks, each));
  collective.count = collective.sizes->largest();
}

}  // namespace

boost::program_options::options_description schedule_options() {
  namespace options = boost::program_options;
  options::options_description result("a schedule");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("collective", text("KIND"), "as in all_reduce");
  add("algorithm", text("NAME"), "a name from `athanor list algorithms`");
  add("ranks", text("N"), "how many take part");
  add("root", text("RANK"), "of broadcast, reduce, gather and scatter, the sender of send_receive; absent: 0");
  add("count", text("N"), "elements of the payload; absent: the least that is cut into equal pieces");
  add("channels", text("N"), "side by side; absent: 1");
  add("chunk", text("N"), "most elements of one chunk; absent: all in one loop");
  add("slices", text("N"), "messages per chunk; absent: 1");
  add("group", text("N"), "ranks per node, for hierarchies; absent: all in one");
  add("dimensions", text("AxB"), "of a torus or mesh; absent: the sides of the least sum");
  return result;
}

ScheduleRequest schedule_request(const Invocation& invocation) {
  ScheduleRequest request;
  Collective& collective = request.collective;
  collective.kind = named_collective("plot", needed(invocation, "collective"));
  const std::string name = needed(invocation, "algorithm");
  needed(invocation, "ranks");
  collective.ranks = *number_option("plot", invocation, "ranks", 1);
  if (collective.ranks > kMostRanks) {
    throw UsageError(fmt::format("plot: {} ranks are more than the {} whose messages are followed one by one",
                                 collective.ranks, kMostRanks));
  }
  collective.root = number_option("plot", invocation, "root", 0).value_or(0);
  request.algorithm = &find(collective.kind, name);
  request.layout = layout_of(invocation);
  const bool barrier = collective.kind == CollectiveKind::barrier;
  if (collective.kind == CollectiveKind::all_to_all_v) { even_sizes(collective); }
  if (const auto refusal = refusal_with_alternatives(*request.algorithm, collective, request.layout)) {
    throw ScenarioError(*refusal);
  }
  const Elements least = request.algorithm->granule(collective, request.layout);
  const auto count = number_option("plot", invocation, "count", 1);
  if (!barrier) { collective.count = count ? Elements{*count} : least; }
  if (collective.kind == CollectiveKind::all_to_all_v) { even_sizes(collective); }
  return request;
}

}  // namespace athanor
