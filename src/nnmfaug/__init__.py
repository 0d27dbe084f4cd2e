"""Knowledge graph data augmentation that is measured."""
