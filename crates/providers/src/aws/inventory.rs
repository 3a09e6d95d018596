//! What EC2 has to offer to this account: zones, sizes, its own images, and how far its quotas go.
//!
//! Keys that may not ask for a part leave it out. EC2's limits of processors are kept by another
//! service, which is not asked.

use machinist_core::provider::{Counted, Inventory, Quota, StockImage};

use super::{
    Aws,
    wire::{AwsError, Element, Meaning, Query},
};

impl Aws {
    pub(super) async fn stock(&self) -> Result<Inventory, AwsError> {
        let zones = told(self.whole("DescribeAvailabilityZones").await)?;
        let attributes = told(self.whole("DescribeAccountAttributes").await)?;
        let sizes = Query::new("DescribeInstanceTypeOfferings").with("LocationType", "region");
        let sizes = told(self.pages(sizes).await)?;
        let mut sizes = texts(&sizes, "instanceTypeOfferingSet", "instanceType");
        sizes.sort();
        let images = Query::new("DescribeImages").list("Owner", ["self"]);
        let images = told(self.pages(images).await)?;
        let images = images.iter().flat_map(|page| page.items(&["imagesSet"]));
        let quotas = attributes.iter();
        let quotas = quotas.flat_map(|page| page.items(&["accountAttributeSet"]));
        Ok(Inventory {
            images: images.filter_map(image).collect(),
            sizes,
            zones: texts(&zones, "availabilityZoneInfo", "zoneName"),
            storage: Vec::new(),
            quotas: quotas.filter_map(quota).collect(),
        })
    }

    /// An answer that has no pages.
    async fn whole(&self, action: &'static str) -> Result<Vec<Element>, AwsError> {
        let answer = self.client.call(&Query::new(action)).await?;
        Ok(vec![answer])
    }
}

/// Nothing of what these keys may not ask for, or what this EC2 does not have.
fn told(part: Result<Vec<Element>, AwsError>) -> Result<Vec<Element>, AwsError> {
    let silent = [
        Some(Meaning::Credentials),
        Some(Meaning::Unsupported),
        Some(Meaning::Invalid),
    ];
    match part {
        Err(error) if silent.contains(&error.meaning()) => {
            tracing::debug!(%error, "a part of the inventory is not told");
            Ok(Vec::new())
        }
        part => part,
    }
}

fn texts(pages: &[Element], set: &str, field: &str) -> Vec<String> {
    let path = [set];
    let items = pages.iter().flat_map(|page| page.items(&path));
    items
        .filter_map(|item| item.text(&[field]).map(str::to_owned))
        .collect()
}

fn image(item: &Element) -> Option<StockImage> {
    let text = |name: &str| item.text(&[name]).map(str::to_owned);
    let id = text("imageId")?;
    (item.text(&["imageState"]) == Some("available")).then(|| StockImage {
        name: text("name").unwrap_or_else(|| id.clone()),
        id,
        os: text("platformDetails").or_else(|| text("platform")),
        architecture: text("architecture"),
        public: item.text(&["isPublic"]) == Some("true"),
        created: item.text(&["creationDate"]).and_then(|at| at.parse().ok()),
    })
}

/// The attributes that are quotas. Zero and less say that there is none.
fn quota(item: &Element) -> Option<Quota> {
    let resource = match item.text(&["attributeName"])? {
        "max-instances" => Counted::Machines,
        "vpc-max-elastic-ips" => Counted::Network("elastic-ips".to_owned()),
        "vpc-max-security-groups-per-interface" => {
            Counted::Network("security-groups-per-interface".to_owned())
        }
        _ => return None,
    };
    let mut values = item.items(&["attributeValueSet"]);
    let limit = values.next()?.text(&["attributeValue"])?.parse().ok()?;
    (limit > 0).then_some(Quota {
        resource,
        limit,
        used: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{super::wire::Refusal, *};

    #[test]
    fn what_the_keys_may_not_ask_for_is_left_out_and_a_doubt_is_not() {
        let part = |code: &str| {
            let refusal = Refusal {
                status: 403,
                code: code.to_owned(),
                message: String::new(),
            };
            told(Err(AwsError::Refused {
                action: "DescribeImages",
                refusal,
            }))
        };
        assert!(part("UnauthorizedOperation").unwrap().is_empty());
        assert!(part("InvalidAction").unwrap().is_empty());
        assert!(part("RequestLimitExceeded").is_err());
    }
}
