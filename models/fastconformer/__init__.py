"""FastConformers and Conformers as NeMo trains them."""
