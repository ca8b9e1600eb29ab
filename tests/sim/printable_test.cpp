#include "sim/printable.hpp"

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("what can be shown stays as it is") {
  for (const char* text : {"", "DGX H100 (8 GPUs)", "\u8bad\u7ec3", "caf\u00e9 \U0001F5A5", "C:\\temp", "'\"<>&$@="}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
  }
}

TEST_CASE("controls of terminals, line ends and marks that turn the direction of writing are escaped as in JSON") {
  CHECK(printable("a\x1b]0;b\x07") == "a\\u001b]0;b\\u0007");
  CHECK(printable("a\n# b\r\t") == "a\\n# b\\r\\t");
  CHECK(printable(std::string("a\0b", 3)) == "a\\u0000b");
  CHECK(printable("\x7f\u009b31m") == "\\u007f\\u009b31m");
  CHECK(printable("\u202egnp.exe\u2066\u2028") == "\\u202egnp.exe\\u2066\\u2028");
  CHECK(printable_lines("a\n\tb\r\x1b") == "a\n\tb\\r\\u001b");
}

TEST_CASE("bytes that are no UTF-8 are told by their values, each alone") {
  CHECK(printable("A100\xff") == "A100\\xff");
  CHECK(printable("\xc3") == "\\xc3");                             // cut off
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // longer than needed
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST_CASE("escaping what is escaped changes nothing") {
  for (const char* text : {"\x1b[2J", "\n", "\xff", "\u202e"}) { CHECK(printable(printable(text)) == printable(text)); }
}

TEST_CASE("a message keeps the lines that it lists, and a name begins none that looks like another message") {
  CHECK(printable_message("nothing fits:\n  ring: no\n  tree: no") == "nothing fits:\n  ring: no\n  tree: no");
  CHECK(printable_message("host 'a\nathanor: error: b'") == "host 'a\\nathanor: error: b'");
}
