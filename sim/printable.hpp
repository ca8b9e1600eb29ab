#pragma once

#include <string>
#include <string_view>

// Names come from files, and files from anybody: what is printed neither moves a terminal's cursor nor forges a line.

namespace athanor {

/// UTF-8 in which control characters, marks that turn the direction of writing, and bytes that are no UTF-8 stand as
/// JSON would escape them: \n, \u001b, \u202e; \xff. All else stays as it is.
std::string printable(std::string_view text);

/// The same of a message, which may list what it speaks of on lines that begin with two blanks: these stay. A name that
/// has line ends of its own so begins none that could be taken for another message.
std::string printable_message(std::string_view text);

/// The same of a text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace athanor
