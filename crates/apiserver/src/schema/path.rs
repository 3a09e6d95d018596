//! Where a value lies in an object: links on the way to it, written out only when there is
//! something to say. Most values are right, and their paths are nobody's business.

use std::fmt;

/// The way from an object to a value in it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The object itself.
    Root,
    /// A field: `spec.name`.
    Field(&'a Path<'a>, &'a str),
    /// A value of a map as the checks of values write it: `.labels.app`, also at the root.
    Entry(&'a Path<'a>, &'a str),
    /// A value of a map as all others write it: `labels[app]`.
    Key(&'a Path<'a>, &'a str),
    /// An item of a list: `disks[0]`.
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// Whether nothing is written of it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Root => true,
            Self::Field(up, name) => name.is_empty() && up.is_empty(),
            Self::Entry(..) | Self::Key(..) | Self::Item(..) => false,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(up, name) if up.is_empty() => out.write_str(name),
            Self::Field(up, name) | Self::Entry(up, name) => write!(out, "{up}.{name}"),
            Self::Key(up, key) => write!(out, "{up}[{key}]"),
            Self::Item(up, index) => write!(out, "{up}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_upstream_writes_them() {
        let spec = Path::Field(&Path::Root, "spec");
        let disks = Path::Field(&spec, "disks");
        let disk = Path::Item(&disks, 1);
        for (path, expected) in [
            (Path::Root, ""),
            (disk, "spec.disks[1]"),
            (Path::Field(&disk, "name"), "spec.disks[1].name"),
            (Path::Entry(&Path::Root, "app"), ".app"),
            (Path::Key(&spec, "app"), "spec[app]"),
            (Path::Field(&Path::Field(&Path::Root, ""), "x"), "x"),
        ] {
            assert_eq!(path.to_string(), expected);
            assert_eq!(path.is_empty(), expected.is_empty());
        }
    }
}
