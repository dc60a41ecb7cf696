"""Published studies, one file each: their designs on any corpus, beside their own figures."""
