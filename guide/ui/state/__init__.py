"""What the pages show, as plain values, one module a page: no Streamlit here."""
