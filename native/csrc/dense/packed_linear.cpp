// What all layers have in common, compiled once for each kind of processor: the tiles, each
// unrolled over its rows and columns, are dozens. Who calls them finds them in a table, and so
// loses nothing by their being elsewhere.
#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"

namespace earshot::EARSHOT_PROCESSOR {

template SumTile<float> sum_tile_of<float>(int, int);
template SumTile<Bfloat16> sum_tile_of<Bfloat16>(int, int);
template SumTile<Int8> sum_tile_of<Int8>(int, int);
template SumTile<Int8Product<16>> sum_tile_of<Int8Product<16>>(int, int);
template SumTile<Int8Product<8>> sum_tile_of<Int8Product<8>>(int, int);

PackedLinear::Layer PackedLinear::packed(const LinearWeights& weights, float beyond) {
  if (weights.precision == Precision::FLOAT32) return PackedLayer<float>(weights, beyond);
  if (weights.precision == Precision::INT8) return PackedLayer<Int8Product<16>>(weights, beyond);
  if (weights.precision == Precision::W8A8) return PackedLayer<Int8Product<8>>(weights, beyond);
  if (are_int8_rows(weights)) return PackedLayer<Int8>(weights, beyond);
  return PackedLayer<Bfloat16>(weights, beyond);
}

}  // namespace earshot::EARSHOT_PROCESSOR
