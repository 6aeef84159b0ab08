"""Teaching: from labelled demonstrations to all that the live side knows, in numpy, so that a review needs no torch."""
