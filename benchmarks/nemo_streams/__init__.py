"""Live streams of NeMo's streaming transducers, here and in sherpa-onnx on the same weights."""
