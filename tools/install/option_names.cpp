#include "tools/install/option_names.hpp"

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/value_semantic.hpp>

#include "tools/cli/options.hpp"

namespace athanor {

std::vector<OptionName> option_names(const Command& command) {
  namespace options = boost::program_options;
  std::vector<OptionName> names;
  const auto add = [&](const options::options_description& group) {
    for (const auto& option : group.options()) {
      const std::string shorter = option->canonical_display_name(options::command_line_style::allow_dash_for_short);
      const bool takes_value = option->semantic()->max_tokens() > 0;
      names.push_back({"--" + option->long_name(), shorter.size() == 2 && shorter[0] == '-' ? shorter : "",
                       takes_value ? option->semantic()->name() : "", option->description()});
    }
  };
  add(command.options());
  add(common_options());
  return names;
}

}  // namespace athanor
