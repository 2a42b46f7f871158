"""Language models: one file, one provider."""
