"""Runs a notebook from its first cell to its last and fails where one does; with --write its outputs are kept in it."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
if "--write" in sys.argv:
    nbformat.write(notebook, path)
print(f"{path}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells ran")
