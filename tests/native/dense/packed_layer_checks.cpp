// The checks of packed layers for a kind of processor, in one program: what they all include, and
// the layers themselves, are compiled once. test_packed_layer.py compiles it.
// usage: packed_layer_checks CHECK; exits with 0 where it holds.
#include <cstdio>
#include <map>
#include <string>

#include "dense/packed_linear.cpp"
// Each of a namespace of its own.
#include "bfloat16_check.cpp"
#include "int8_products_check.cpp"
#include "int8_rows_check.cpp"
#include "packed_layer_check.cpp"

int main(int count, char** arguments) {
  using namespace earshot::EARSHOT_PROCESSOR;
  const std::map<std::string, bool (*)()> checks{
      {"bfloat16_check", bfloat16_check::check},
      {"int8_products_check", int8_products_check::check},
      {"int8_rows_check", int8_rows_check::check},
      {"packed_layer_check", packed_layer_check::check},
  };
  if (count != 2 || !checks.contains(arguments[1])) {
    std::fprintf(stderr, "usage: packed_layer_checks CHECK\n");
    return 2;
  }
  if (checks.at(arguments[1])()) return 0;
  std::fprintf(stderr, "%s: layers give other sums\n", arguments[1]);
  return 1;
}
