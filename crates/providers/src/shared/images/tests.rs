//! Images: what references mean, and transfers that stop half-way, against a small server.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use super::*;

fn image(reference: &str) -> Image {
    Image {
        reference: reference.to_owned(),
        checksum: None,
    }
}

fn store(dir: &Path) -> ImageStore {
    let (cache, search) = (dir.join("cache"), dir.join("search"));
    fs::create_dir_all(&cache).unwrap();
    fs::create_dir_all(&search).unwrap();
    let names = BTreeMap::from([("debian".to_owned(), "disk".to_owned())]);
    ImageStore::new(cache, vec![search], names)
}

#[tokio::test]
async fn local_images_are_found_by_path_url_and_name_and_survive_their_original() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let original = dir.path().join("search/disk.raw");
    fs::write(&original, b"content").unwrap();
    let absolute = original.display().to_string();
    std::os::unix::fs::symlink("disk.raw", dir.path().join("search/latest.img")).unwrap();
    for reference in [
        "disk",
        "disk.raw",
        "latest",
        "debian",
        &absolute,
        &format!("file://{absolute}"),
    ] {
        let resolved = store.resolve(&image(reference)).unwrap();
        let kept = store.fetch(&resolved).await.unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"content", "{reference}");
    }
    let resolved = store.resolve(&image("disk")).unwrap();
    fs::remove_file(&original).unwrap();
    fs::write(&original, b"another content").unwrap();
    let kept = store.path(&resolved.file_name);
    assert_eq!(fs::read(&kept).unwrap(), b"content", "the old disk is kept");
    let newer = store.resolve(&image("disk")).unwrap();
    assert_ne!(newer, resolved, "a replaced file is another image");

    store.prune(|name| name == resolved.file_name);
    assert!(kept.exists());
    store.prune(|_| false);
    assert!(!kept.exists());
}

#[test]
fn what_is_offered_is_what_can_be_had() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let far = "https://example.com/far.qcow2";
    for (name, reference) in [("far", far), ("gone", "/no/such/file")] {
        store.names.insert(name.to_owned(), reference.to_owned());
    }
    for file in ["disk.raw", "web.qcow2", ".hidden.raw", "notes.txt"] {
        fs::write(dir.path().join("search").join(file), b"content").unwrap();
    }
    let offered = store.offered();
    let offered: Vec<(&str, &str)> = offered
        .iter()
        .map(|(id, name)| (id.as_str(), name.as_str()))
        .collect();
    assert_eq!(offered, [("disk", "debian"), (far, "far"), ("web", "web")]);
    for (id, name) in offered {
        assert!(store.resolve(&image(id)).is_ok(), "{id}");
        assert!(store.resolve(&image(name)).is_ok(), "{name}");
    }
}

#[test]
fn unknown_images_say_where_they_were_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let message = store.resolve(&image("ubuntu")).unwrap_err().to_string();
    assert!(message.contains("debian"), "{message}");
    assert!(message.contains("search/ubuntu.qcow2"), "{message}");
    assert!(store.resolve(&image("../secret")).is_err());
    assert!(store.resolve(&image("/no/such/file")).is_err());
}

#[tokio::test]
async fn a_wrong_checksum_is_refused_for_local_files_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    fs::write(dir.path().join("search/disk.raw"), b"content").unwrap();
    let mut pinned = image("disk");
    pinned.checksum = Some(format!("sha256:{}", Sha256::of(b"content").hex()));
    let resolved = store.resolve(&pinned).unwrap();
    store.fetch(&resolved).await.unwrap();
    pinned.checksum = Some(format!("sha256:{}", Sha256::of(b"other").hex()));
    let resolved = store.resolve(&pinned).unwrap();
    let error = store.fetch(&resolved).await.unwrap_err();
    assert!(matches!(&*error, ImageError::Checksum { .. }), "{error}");
    pinned.checksum = Some("md5:1234".to_owned());
    assert!(store.resolve(&pinned).is_err());
}

/// Serves one content; a connection is cut after `cut` bytes when that is given. Every
/// request's `Range` header is sent to the returned channel.
async fn serve(
    content: Vec<u8>,
    mut cut: Option<usize>,
) -> (String, mpsc::UnboundedReceiver<Option<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, ranges) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).await.unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
            let range = text
                .lines()
                .find_map(|line| line.strip_prefix("range: bytes="))
                .and_then(|range| range.trim_end_matches('-').parse::<usize>().ok());
            let _ = seen.send(range);
            let from = range.unwrap_or(0);
            let status = if range.is_some() {
                "206 Partial Content"
            } else {
                "200 OK"
            };
            let status = if text.starts_with("get /absent") {
                "404 Not Found"
            } else {
                status
            };
            let rest = &content[from..];
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\netag: \"v1\"\r\nconnection: close\r\n\r\n",
                rest.len()
            );
            let sent = cut.take().unwrap_or(rest.len()).min(rest.len());
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&rest[..sent]).await;
            let _ = stream.shutdown().await;
        }
    });
    (format!("http://{address}/disk.raw"), ranges)
}

#[tokio::test]
async fn a_broken_transfer_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let content: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let sum = Sha256::of(&content);
    let (url, mut ranges) = serve(content.clone(), Some(60_000)).await;
    let resolved = store
        .resolve(&image(&format!("{url}#sha256={}", sum.hex())))
        .unwrap();
    let error = store.fetch(&resolved).await.unwrap_err();
    assert!(matches!(
        ImageError::into_provider(error, &url).reason(),
        "ProviderUnreachable"
    ));
    assert!(
        !store.path(&resolved.file_name).exists(),
        "a part never has the final name"
    );

    let (one, two) = tokio::join!(store.fetch(&resolved), store.fetch(&resolved));
    assert_eq!(fs::read(one.unwrap()).unwrap(), content);
    two.unwrap();
    assert_eq!(ranges.recv().await, Some(None));
    assert_eq!(
        ranges.recv().await,
        Some(Some(60_000)),
        "the rest alone was asked for"
    );
    store.fetch(&resolved).await.unwrap();
    assert!(
        ranges.try_recv().is_err(),
        "two callers shared one transfer, and it is kept"
    );
    assert!(store.transfers().borrow().is_empty());
}

#[tokio::test]
async fn a_wrong_content_is_refused_and_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let (url, _ranges) = serve(b"content".to_vec(), None).await;
    let wrong = Sha256::of(b"other");
    let resolved = store
        .resolve(&image(&format!("{url}#sha256={}", wrong.hex())))
        .unwrap();
    let error = store.fetch(&resolved).await.unwrap_err();
    assert_eq!(ImageError::into_provider(error, &url).reason(), "Rejected");
    assert!(!store.path(&resolved.file_name).exists());
    assert!(
        !store
            .path(&resolved.file_name)
            .with_extension("part")
            .exists()
    );

    let absent = url.replace("disk.raw", "absent");
    let resolved = store.resolve(&image(&absent)).unwrap();
    let error = store.fetch(&resolved).await.unwrap_err();
    let error = ImageError::into_provider(error, &absent);
    assert_eq!(error.reason(), "Rejected");
    assert!(error.to_string().contains("404"), "{error}");
}

#[tokio::test]
async fn images_are_not_fetched_from_metadata_services_not_even_by_redirect() {
    let dir = tempfile::tempdir().unwrap();
    let usual = store(dir.path());
    for url in [
        "http://169.254.169.254/disk",
        "http://metadata.google.internal/disk",
    ] {
        let error = usual.resolve(&image(url)).unwrap_err();
        assert!(matches!(error, ImageError::Forbidden(_)), "{error}");
        let told = ImageError::into_provider(Arc::new(error), url);
        assert_eq!(told.reason(), "Rejected");
        assert!(told.to_string().contains("allowLinkLocal"), "{told}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/disk", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await.unwrap();
        let answer = "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/disk\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    let resolved = usual.resolve(&image(&url)).unwrap();
    let error = usual.fetch(&resolved).await.unwrap_err();
    assert!(matches!(*error, ImageError::Forbidden(_)), "{error:?}");
    let anywhere = store(dir.path()).reaching(Reach::Anywhere);
    assert!(
        anywhere
            .resolve(&image("http://169.254.169.254/disk"))
            .is_ok()
    );
}
