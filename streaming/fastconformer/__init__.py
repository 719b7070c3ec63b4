"""NeMo's FastConformers as a family: streams that go on, decoded by a transducer or by CTC."""
