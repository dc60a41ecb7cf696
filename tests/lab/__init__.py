"""Tests of the lab. A package, so that file names may repeat in other rooms' tests."""
