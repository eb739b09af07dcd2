"""The tools of TensorBoard's Profile tab: pure functions from a run to tables and chart data."""
