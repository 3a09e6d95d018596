//! Which message an `apiVersion` and a `kind` stand for, and what is in it.
//!
//! The tables are data: number, JSON name, type and presence of each field, as the Go types of
//! Kubernetes 1.36 tag them.

mod admission;
mod auth;
mod core;
pub(super) mod definition;
mod meta;

use super::message::Message;

/// The message of a kind, if it is one that is read.
pub(super) fn find(api_version: &str, kind: &str) -> Option<&'static Message> {
    let message = match (api_version, kind) {
        // Every group has the options of a deletion under its own name.
        (_, "DeleteOptions") => &meta::DELETE_OPTIONS,
        ("v1", "Namespace") => &core::NAMESPACE,
        ("v1", "Secret") => &core::SECRET,
        ("v1", "ConfigMap") => &core::CONFIG_MAP,
        ("v1", "ServiceAccount") => &core::SERVICE_ACCOUNT,
        ("v1", "Event") => &core::EVENT,
        ("events.k8s.io/v1", "Event") => &core::EVENTS_EVENT,
        ("coordination.k8s.io/v1", "Lease") => &core::LEASE,
        ("autoscaling/v1", "Scale") => &core::SCALE,
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => {
            &definition::CUSTOM_RESOURCE_DEFINITION
        }
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration") => {
            &admission::VALIDATING_WEBHOOK_CONFIGURATION
        }
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration") => {
            &admission::MUTATING_WEBHOOK_CONFIGURATION
        }
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => &auth::SELF_SUBJECT_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "LocalSubjectAccessReview") => {
            &auth::LOCAL_SUBJECT_ACCESS_REVIEW
        }
        ("authorization.k8s.io/v1", "SubjectAccessReview") => &auth::SUBJECT_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &auth::SELF_SUBJECT_RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &auth::SELF_SUBJECT_REVIEW,
        ("authentication.k8s.io/v1", "TokenReview") => &auth::TOKEN_REVIEW,
        ("authentication.k8s.io/v1", "TokenRequest") => &auth::TOKEN_REQUEST,
        ("rbac.authorization.k8s.io/v1", "Role") => &auth::ROLE,
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => &auth::ROLE_BINDING,
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => &auth::CLUSTER_ROLE,
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => &auth::CLUSTER_ROLE_BINDING,
        _ => return None,
    };
    Some(message)
}
