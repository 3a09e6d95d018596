//! A page as blocks, with what the comments before them say.

/// A page.
pub(crate) struct Page {
    pub(crate) blocks: Vec<Block>,
    /// Whether it needs a real Kubernetes.
    pub(crate) cluster: bool,
}

/// A block between fences.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The comment before it: what it says, and of what.
    note: Option<(String, String)>,
}

impl Page {
    /// Reads one.
    pub(crate) fn read(text: &str) -> Page {
        let mut page = Page {
            blocks: Vec::new(),
            cluster: false,
        };
        let mut note = None;
        let mut open: Option<Block> = None;
        for (index, line) in text.lines().enumerate() {
            let bare = line.trim();
            match (&mut open, bare.strip_prefix("```")) {
                (Some(_), Some("")) => page.blocks.extend(open.take()),
                (Some(block), _) => block.text.push_str(&format!("{line}\n")),
                (None, Some(language)) => {
                    open = Some(Block {
                        line: index + 1,
                        language: language.to_owned(),
                        note: note.take(),
                        ..Block::default()
                    });
                }
                (None, None) => match comment(bare) {
                    Some(("needs", "cluster")) => page.cluster = true,
                    Some((word, what)) => note = Some((word.to_owned(), what.to_owned())),
                    None if bare.is_empty() => {}
                    None => note = None,
                },
            }
        }
        page
    }
}

fn comment(line: &str) -> Option<(&str, &str)> {
    let text = line.strip_prefix("<!--")?.strip_suffix("-->")?;
    let (word, what) = text.split_once(':')?;
    Some((word.trim(), what.trim()))
}

impl Block {
    fn noted(&self, word: &str) -> Option<&str> {
        let (said, what) = self.note.as_ref()?;
        (said == word).then_some(what.as_str())
    }

    /// Whether it is a command that is run.
    pub(crate) fn is_run(&self) -> bool {
        let reason = self.noted("not run");
        assert!(
            reason != Some(""),
            "line {}: not run, and no reason",
            self.line
        );
        self.language == "sh" && reason.is_none()
    }

    /// What it adds to the session.
    pub(crate) fn script(&self) -> String {
        let Block { line, text, .. } = self;
        if let Some(file) = self.noted("file") {
            return format!("cat > {file} <<'END-OF-BLOCK'\n{text}END-OF-BLOCK\n");
        }
        if !self.is_run() {
            return String::new();
        }
        let begin = format!("echo '--- line {line}'\n");
        if let Some(words) = self.noted("in the background until") {
            return format!(
                "{begin}( {text} ) > background-{line}.log 2>&1 &\nawait background-{line}.log '{words}'\n"
            );
        }
        match self.noted("ends with") {
            None => format!("{begin}{text}"),
            Some(code) => format!(
                "{begin}code=0; ( {text} ) || code=$?\n\
                 test \"$code\" = {code} || {{ echo \"ended with $code\"; exit 99; }}\n"
            ),
        }
    }
}
