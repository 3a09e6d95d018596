//! Text, packed against what the texts of machines have in common: nearly all of one is the names of
//! its fields and the words that every running machine's conditions say.

use lz4_flex::block::{
    DecompressError, compress_prepend_size_with_dict, decompress_size_prepended_with_dict,
};

/// A machine that runs, as [`super::Packed`] writes it. Packed texts refer to it, and live no longer
/// than the process, so that it may change from release to release.
const TYPICAL: &[u8] = include_bytes!("typical.json");

/// Packs a text.
pub(super) fn pack(text: &[u8]) -> Box<[u8]> {
    compress_prepend_size_with_dict(text, TYPICAL).into_boxed_slice()
}

/// The text that was packed.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, DecompressError> {
    decompress_size_prepended_with_dict(packed, TYPICAL)
}
