#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/config/json_value.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

struct ListOptions {
  CommonOptions common;
  std::optional<std::string> collective;  ///< this and what follows: of algorithms alone
  std::optional<std::uint32_t> ranks;
  std::optional<Bytes> size;
};

void visit(OptionFields& fields, ListOptions& options);

/// Names that scenarios may use, with what is known of them.
struct Listing {
  JsonValue rows;
  std::string text;  ///< the rows as a table for people
};

/// The catalog, or what it has for one collective, with what each algorithm costs over some ranks at some size; with
/// --verbose also what is known about it. Throws UsageError.
Listing list_algorithms(const ListOptions& options);
/// The engines of networks with their limits; `verbose`: with their costs, sources and what is assumed.
Listing list_engines(bool verbose);
/// Frameworks that train, whose defaults plans may have; `verbose`: with what each sets and its sources.
Listing list_frameworks(const Library& library, bool verbose);
/// The models that are trained: parameters, those of one token, layers and sizes; `verbose`: where they come from.
Listing list_models(const Library& library, bool verbose);
/// Profiles of software and their pools: what each was fitted on, and how far it is off. Throws as reading them.
Listing list_profiles(const Library& library);
/// The same of compute profiles.
Listing list_compute(const Library& library);
/// Every kind of fabric with its default routing; `verbose`: with its keys, closed forms and source.
Listing list_topologies(bool verbose);

/// The words of a text in lines, each but the first behind `indent` blanks, none wider than 100 where words allow.
std::string wrapped(std::string_view text, std::size_t indent);

}  // namespace athanor
