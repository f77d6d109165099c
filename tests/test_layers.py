"""What import-linter's contracts leave open: a package's own module, and those within it."""

from graphlib import TopologicalSorter

import grimp


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for type checkers and those within functions count. CycleError has the way."""
    graph = grimp.build_graph("mockbroker", cache_dir=None)
    modules = graph.modules
    assert len(modules) > 400
    TopologicalSorter({each: graph.find_modules_directly_imported_by(each) for each in modules}).prepare()
