//! treeqr
