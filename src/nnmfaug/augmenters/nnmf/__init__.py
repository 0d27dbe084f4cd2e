"""The paper's method, step by step."""
