"""Pages of the web, as text: which addresses may be asked, how they are fetched, what of them is shown to a model."""
