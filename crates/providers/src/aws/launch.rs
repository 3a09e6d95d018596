//! The request that makes an instance: what is declared, as EC2's parameters.
//!
//! The same declaration always gives the same parameters, because EC2 compares those of requests
//! with one token.

use machinist_core::{
    machine::{Disk, MachineKey, Nic, Want},
    provider::{ProviderError, ProviderResult},
};

use super::{
    Aws, facts, tags, user_data,
    wire::{AwsError, Query},
};

const GIB: u64 = 1 << 30;
/// The disk type of a disk that declares none.
const DISK_CLASS: &str = "gp3";
/// What a root device is called where the image does not say.
const ROOT: &str = "/dev/xvda";

/// What was learnt about the things that a declaration names.
#[derive(Debug, Default)]
pub(super) struct Named {
    root: Option<String>,
    /// The size in GiB of the image's own root volume.
    root_size: Option<String>,
    /// Ids of security groups by the names that stand for them.
    groups: Vec<(String, String)>,
}

impl Aws {
    /// Looks up what a declaration names. What is not found is left for EC2 to refuse: only it
    /// can say, under the machine's token, that there is no machine.
    pub(super) async fn named(&self, want: &Want) -> Result<Named, AwsError> {
        let mut named = Named::default();
        if let Some(image) = &want.image {
            let query = Query::new("DescribeImages").list("ImageId", [&image.reference]);
            match self.client.call(&query).await {
                Ok(answer) => {
                    let found = answer.items(&["imagesSet"]).next();
                    let root = found.and_then(|image| image.text(&["rootDeviceName"]));
                    named.root = root.map(str::to_owned);
                    let mut volumes = found
                        .into_iter()
                        .flat_map(|image| image.items(&["blockDeviceMapping"]));
                    let volume = volumes.find(|volume| volume.text(&["deviceName"]) == root);
                    let size = volume.and_then(|volume| volume.text(&["ebs", "volumeSize"]));
                    named.root_size = size.map(str::to_owned);
                }
                Err(error)
                    if error
                        .refusal()
                        .is_some_and(|r| r.code.starts_with("InvalidAMIID")) => {}
                Err(error) => return Err(error),
            }
        }
        let own = want.nics.iter().flat_map(|nic| &nic.security_groups);
        let names = want.security_groups.iter().chain(own);
        let mut names: Vec<&String> = names.filter(|name| !is_group_id(name)).collect();
        names.sort();
        names.dedup();
        for name in names {
            let query = Query::new("DescribeSecurityGroups").filter(1, "group-name", &[name]);
            let answer = self.client.call(&query).await?;
            let mut ids = answer
                .items(&["securityGroupInfo"])
                .filter_map(|group| group.text(&["groupId"]));
            // A name that two networks use stands for neither.
            if let (Some(id), None) = (ids.next(), ids.next()) {
                named.groups.push((name.clone(), id.to_owned()));
            }
        }
        Ok(named)
    }
}

/// The request, without its token.
///
/// # Errors
/// Names what EC2 has no parameter for.
pub(super) fn request(key: &MachineKey, want: &Want, named: &Named) -> ProviderResult<Query> {
    let image = want.image.as_ref().map(|image| image.reference.as_str());
    let image =
        image.ok_or_else(|| refuse("image", "", "EC2 needs an image: give the id of an AMI"))?;
    let kind = want.instance_type.as_deref();
    let kind = kind.ok_or_else(|| {
        refuse(
            "instanceType",
            "",
            "EC2 needs an instance type, such as t3.micro",
        )
    })?;
    let mut query = Query::new("RunInstances")
        .with("MinCount", "1")
        .with("MaxCount", "1")
        .with("ImageId", image)
        .with("InstanceType", kind)
        .maybe("Placement.AvailabilityZone", want.zone.as_deref())
        .maybe(
            "Monitoring.Enabled",
            want.monitoring.map(|on| on.to_string()),
        )
        .with("MetadataOptions.HttpTokens", "required")
        .with("MetadataOptions.HttpEndpoint", "enabled")
        .maybe("UserData", user_data::encoded(&want.init)?);
    query = settings(query, want)?;
    query = disks(query, &want.disks, named)?;
    query = nics(query, want, named)?;
    let all = tags::of_instance(key, want)?;
    let mut of_volumes = tags::of_owner(key);
    of_volumes.insert("Name".to_owned(), want.name.clone());
    let tagged = [
        ("instance", &all),
        ("volume", &of_volumes),
        ("network-interface", &of_volumes),
    ];
    for ((kind, tags), number) in tagged.into_iter().zip(1..) {
        let prefix = format!("TagSpecification.{number}");
        query = query
            .with(format!("{prefix}.ResourceType"), kind)
            .tags(&format!("{prefix}.Tag"), tags);
    }
    Ok(query)
}

fn settings(mut query: Query, want: &Want) -> ProviderResult<Query> {
    for (name, value) in &want.settings {
        let parameter = match name.as_str() {
            "instanceProfile" if value.starts_with("arn:") => "IamInstanceProfile.Arn",
            "instanceProfile" => "IamInstanceProfile.Name",
            "placementGroup" => "Placement.GroupName",
            "tenancy" => "Placement.Tenancy",
            "keyName" => "KeyName",
            _ => {
                return Err(refuse(
                    "providerConfig.config",
                    name,
                    "known are instanceProfile, keyName, placementGroup and tenancy",
                ));
            }
        };
        query = query.with(parameter, value);
    }
    Ok(query)
}

fn disks(mut query: Query, disks: &[Disk], named: &Named) -> ProviderResult<Query> {
    let mut places = 0..;
    for (disk, number) in disks.iter().zip(1..) {
        let device = match disk.boot {
            true => Some(named.root.clone().unwrap_or_else(|| ROOT.to_owned())),
            false => places.next().and_then(facts::device),
        };
        let most = facts::MOST_DISKS;
        let device = device.ok_or_else(|| {
            let reason = format!("at most {most} disks fit beside the boot disk");
            refuse("disks", &disk.name, &reason)
        })?;
        if disk.size.is_none() && !disk.boot {
            return Err(refuse(
                "disks",
                &disk.name,
                "a disk without an image needs a size",
            ));
        }
        let prefix = format!("BlockDeviceMapping.{number}");
        query = query.with(format!("{prefix}.DeviceName"), device);
        // A boot disk is as large as its image. EC2 takes that by itself; not everything that speaks
        // its language does.
        if disk.size.is_none() {
            query = query.maybe(
                format!("{prefix}.Ebs.VolumeSize"),
                named.root_size.as_deref(),
            );
        }
        query = volume(query, &format!("{prefix}.Ebs."), "VolumeSize", disk)
            .with(format!("{prefix}.Ebs.DeleteOnTermination"), "true");
    }
    Ok(query)
}

/// The parameters of a volume, which have the same names wherever one is made but for the size.
pub(super) fn volume(query: Query, prefix: &str, size_name: &str, disk: &Disk) -> Query {
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let size = disk.size.map(|size| size.div_ceil(GIB).to_string());
    let class = disk.class.as_deref().unwrap_or(DISK_CLASS);
    query
        .maybe(format!("{prefix}{size_name}"), size)
        .with(format!("{prefix}VolumeType"), class)
        .maybe(format!("{prefix}Iops"), number(disk.iops))
        .maybe(format!("{prefix}Throughput"), number(disk.throughput))
        .maybe(
            format!("{prefix}Encrypted"),
            disk.encrypted.then_some("true"),
        )
}

fn nics(mut query: Query, want: &Want, named: &Named) -> ProviderResult<Query> {
    let default = [Nic::default()];
    let nics = match want.nics.as_slice() {
        [] => &default[..],
        nics => nics,
    };
    for (nic, place) in nics.iter().zip(0..) {
        if let Some(mac) = &nic.mac {
            return Err(refuse("nics", mac, "EC2 chooses MAC addresses itself"));
        }
        let prefix = format!("NetworkInterface.{}", place + 1);
        let groups = want.security_groups.iter().chain(&nic.security_groups);
        let mut ids: Vec<&str> = Vec::new();
        for group in groups {
            let known = named.groups.iter().find(|(name, _)| name == group);
            let id = known.map_or(group.as_str(), |(_, id)| id.as_str());
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        query = query
            .with(format!("{prefix}.DeviceIndex"), place.to_string())
            .with(format!("{prefix}.DeleteOnTermination"), "true")
            .maybe(format!("{prefix}.SubnetId"), nic.network.as_deref())
            .maybe(format!("{prefix}.PrivateIpAddress"), nic.address.as_deref())
            .list(&format!("{prefix}.SecurityGroupId"), ids);
        if nic.public {
            query = query.with(format!("{prefix}.AssociatePublicIpAddress"), "true");
        }
    }
    Ok(query)
}

/// An id is `sg-` and eight or seventeen hexadecimal digits; all else is a name.
fn is_group_id(text: &str) -> bool {
    let digits = text.strip_prefix("sg-").unwrap_or_default();
    [8, 17].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Which field EC2 means by a code, and what it holds.
pub(super) fn at_fault(code: &str, want: &Want) -> (&'static str, String) {
    let setting = |name: &str| want.settings.get(name).cloned().unwrap_or_default();
    let image = want.image.as_ref().map(|image| image.reference.clone());
    let subnets = want.nics.iter().filter_map(|nic| nic.network.clone());
    match code.split('.').next().unwrap_or_default() {
        "InvalidAMIID" => ("image", image.unwrap_or_default()),
        "InvalidInstanceType" => (
            "instanceType",
            want.instance_type.clone().unwrap_or_default(),
        ),
        "InvalidKeyPair" => ("keyName", setting("keyName")),
        "InvalidPlacementGroup" => ("placementGroup", setting("placementGroup")),
        "InvalidIamInstanceProfileArn" | "NoSuchEntity" => {
            ("instanceProfile", setting("instanceProfile"))
        }
        "InvalidSubnetID" | "InvalidSubnet" => ("nics", subnets.collect::<Vec<_>>().join(", ")),
        "InvalidGroup" | "InvalidSecurityGroupID" | "InvalidGroupId" => {
            ("securityGroups", want.security_groups.join(", "))
        }
        "InvalidZone" | "InvalidAvailabilityZone" => {
            ("zone", want.zone.clone().unwrap_or_default())
        }
        "TagLimitExceeded" | "InvalidTagKey" => ("tags", want.tags.len().to_string()),
        _ => ("machine", want.name.clone()),
    }
}

fn refuse(field: &'static str, value: &str, reason: &str) -> ProviderError {
    ProviderError::Rejected {
        field,
        value: value.to_owned(),
        reason: reason.to_owned(),
    }
}
