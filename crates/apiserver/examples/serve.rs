//! A server in memory for trying things out: `serve KUBECONFIG [CRD…]` listens on a free port
//! of the loopback interface, writes a kubeconfig, and serves until Ctrl-C.

use machinist_apiserver::{ApiServer, Options, Pki, Store, tls};

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("usage: serve KUBECONFIG [CRD…]")?;
    let mut crds = Vec::new();
    for path in arguments {
        crds.push(serde_saphyr::from_str(&std::fs::read_to_string(path)?)?);
    }
    let options = Options {
        crds,
        ..Options::default()
    };
    let server = ApiServer::new(Store::memory(), options).await?;
    let listener = tls::bind("127.0.0.1:0").await?;
    let pki = Pki::load_or_create(&std::path::Path::new(&kubeconfig).with_extension("pki"))?;
    let url = format!("https://{}", listener.local_addr()?);
    std::fs::write(&kubeconfig, pki.kubeconfig(&url))?;
    println!("serving on {url}; try: kubectl --kubeconfig {kubeconfig} get namespaces");
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    server.serve(listener, &pki, stop).await?;
    Ok(())
}
