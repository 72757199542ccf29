# tests/scenario
