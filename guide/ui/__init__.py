"""The pages: view models without Streamlit in `state`, then one page a file."""
