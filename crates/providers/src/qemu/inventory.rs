//! What this host has to offer by name: its images.

use machinist_core::provider::{Inventory, StockImage};

use super::host::Host;

impl Host {
    pub(super) fn inventory(&self) -> Inventory {
        let image = |(id, name): (String, String)| StockImage {
            id,
            name,
            // Every guest of this driver has the same.
            architecture: Some("amd64".to_owned()),
            ..StockImage::default()
        };
        Inventory {
            images: self.images.offered().into_iter().map(image).collect(),
            ..Inventory::default()
        }
    }
}
