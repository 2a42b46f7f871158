"""Files that are not plain text: pictures, PDFs, notebooks. Here is what is known of their bytes."""
