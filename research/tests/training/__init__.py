"""Tests of training. A package, so that file names may repeat in other rooms' tests."""
