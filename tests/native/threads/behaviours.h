// Programs that check one behaviour for each name on their command line.
#pragma once

#include <cstdio>
#include <map>
#include <string>

// Exits with 0 where all that are named hold.
inline int check_named(const std::map<std::string, bool (*)()>& behaviours, int count,
                       char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (behaviours.at(arguments[i])()) continue;
    std::fprintf(stderr, "not so: %s\n", arguments[i]);
    return 1;
  }
  return 0;
}
