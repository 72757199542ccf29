# tests/link
