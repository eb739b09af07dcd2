"""What tfprof does with files: readers, tools, views, pages, exports, commands."""
