#pragma once

#include <string>

#include <boost/program_options/options_description.hpp>

#include "tools/cli/command.hpp"
#include "tools/import/fabric/import_fabric.hpp"

namespace athanor {

/// What `athanor import` takes beside the options of measurements: rates and presets that a text does not have, and
/// the fabric that copies of a machine are put on.
void add_fabric_options(boost::program_options::options_description& described);

/// Reads the fabric in `text` and writes a scenario that can be run: to --output, --json or stdout. A machine is first
/// built as the scenario will build it, so that what is written is known to be good.
void import_fabric_file(const Invocation& invocation, const Streams& streams, const std::string& path,
                        const std::string& text, FabricFormat format);

}  // namespace athanor
