//! Answers as trees: names, texts and children, and nothing else of XML.
//!
//! An answer may come from anywhere, so its size, depth and number of elements have limits, and
//! document types, which could define entities, are refused.

use quick_xml::{
    Reader,
    events::{BytesRef, Event},
};
use thiserror::Error;

/// The largest answer that is read; a page of a thousand instances is a tenth of it.
pub(super) const LARGEST: usize = 16 << 20;
const DEEPEST: usize = 64;
const MOST: usize = 500_000;

/// One element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name without a namespace.
    pub name: String,
    /// Its text; white space around it is left out.
    pub text: String,
    /// The elements in it.
    pub children: Vec<Element>,
}

/// Why an answer cannot be read.
#[derive(Debug, Error)]
pub enum XmlError {
    /// It is larger than any answer should be.
    #[error("the answer has more than {LARGEST} bytes")]
    Large,
    /// It has more elements, or nests deeper, than any answer should.
    #[error("the answer has more than {MOST} elements, or more than {DEEPEST} levels")]
    Wide,
    /// It is not text.
    #[error("the answer is not UTF-8")]
    Encoding(#[source] std::str::Utf8Error),
    /// It is not XML.
    #[error("the answer is not XML")]
    Syntax(#[source] quick_xml::Error),
    /// It has no element, or does not end its elements.
    #[error("the answer is not a whole document")]
    Partial,
    /// It has a document type, or an entity that XML does not define.
    #[error("the answer defines or uses entities of its own")]
    Entity,
}

impl Element {
    /// Reads a document.
    ///
    /// # Errors
    /// When it is not one, or is beyond the limits.
    pub fn parse(bytes: &[u8]) -> Result<Element, XmlError> {
        if bytes.len() > LARGEST {
            return Err(XmlError::Large);
        }
        let text = std::str::from_utf8(bytes).map_err(XmlError::Encoding)?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        // The outermost entry stands for the document.
        let mut open = vec![Element::default()];
        let mut count = 0;
        loop {
            match reader.read_event().map_err(XmlError::Syntax)? {
                Event::Start(start) => {
                    count += 1;
                    if count > MOST || open.len() > DEEPEST {
                        return Err(XmlError::Wide);
                    }
                    open.push(Element {
                        name: start.local_name().into_inner().to_owned(),
                        ..Element::default()
                    });
                }
                Event::End(_) => {
                    let mut done = open.pop().ok_or(XmlError::Partial)?;
                    done.text = done.text.trim().to_owned();
                    open.last_mut()
                        .ok_or(XmlError::Partial)?
                        .children
                        .push(done);
                }
                Event::Text(text) => append(&mut open, &text.xml10_content()),
                Event::CData(text) => append(&mut open, &text.xml10_content()),
                Event::GeneralRef(reference) => append(&mut open, &resolve(&reference)?),
                Event::DocType(_) => return Err(XmlError::Entity),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        match <[Element; 1]>::try_from(open) {
            Ok([document]) => document
                .children
                .into_iter()
                .next()
                .ok_or(XmlError::Partial),
            Err(_) => Err(XmlError::Partial),
        }
    }

    /// The first child of this name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// What is at the end of a path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter()
            .try_fold(self, |element, name| element.child(name))
    }

    /// The text at the end of a path, unless it is absent or empty.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.at(path)
            .map(|found| found.text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The entries of the set at the end of a path.
    pub fn items<'a>(&'a self, path: &[&str]) -> impl Iterator<Item = &'a Element> {
        let set = self.at(path).into_iter();
        set.flat_map(|set| set.children.iter().filter(|child| child.name == "item"))
    }

    /// The first element of this name, however deep.
    pub fn anywhere(&self, name: &str) -> Option<&Element> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.anywhere(name))
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, XmlError> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Ok(character.to_string());
    }
    let name = reference.xml10_content();
    match quick_xml::escape::resolve_predefined_entity(&name) {
        Some(text) => Ok(text.to_owned()),
        None => Err(XmlError::Entity),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_becomes_a_tree() {
        let text = br#"<?xml version="1.0"?><R xmlns="urn:x"><!-- c --><set><item><id>i-1</id><v>a &lt;&#98; <![CDATA[&c]]></v></item><item/></set><empty/></R>"#;
        let tree = Element::parse(text).unwrap();
        assert_eq!(tree.name, "R");
        let items: Vec<_> = tree.items(&["set"]).collect();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].text(&["id"]), Some("i-1"));
        assert_eq!(items[0].text(&["v"]), Some("a <b &c"));
        assert_eq!(tree.text(&["empty"]), None);
        assert_eq!(tree.text(&["absent", "x"]), None);
        assert_eq!(tree.anywhere("id").unwrap().text, "i-1");
    }

    #[test]
    fn hostile_answers_are_refused() {
        let deep = "<a>".repeat(DEEPEST + 1);
        let wide = format!("<a>{}</a>", "<b/>".repeat(MOST));
        let bomb = r#"<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>"#;
        let check = |text: &str| Element::parse(text.as_bytes()).unwrap_err();
        assert!(matches!(check(&deep), XmlError::Wide));
        assert!(matches!(check(&wide), XmlError::Wide));
        assert!(matches!(check(bomb), XmlError::Entity));
        assert!(matches!(check("<a>&b;</a>"), XmlError::Entity));
        assert!(matches!(check("<a><b></a>"), XmlError::Syntax(_)));
        assert!(matches!(check("<a>"), XmlError::Partial));
        assert!(matches!(check(""), XmlError::Partial));
        let large = vec![b' '; LARGEST + 1];
        assert!(matches!(Element::parse(&large), Err(XmlError::Large)));
        assert!(matches!(
            Element::parse(&[0xff]),
            Err(XmlError::Encoding(_))
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail_badly(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Element::parse(&bytes);
        }

        #[test]
        fn no_broken_markup_makes_it_fail_badly(text in "[<>/&;a!\\[\\]?\"'= #x0-9-]{0,80}") {
            let _ = Element::parse(text.as_bytes());
        }

        #[test]
        fn text_survives(text in "[ -~äß€]{0,40}") {
            let escaped = quick_xml::escape::escape(&text);
            let tree = Element::parse(format!("<a><b>{escaped}</b></a>").as_bytes()).unwrap();
            prop_assert_eq!(&tree.children[0].text, text.trim());
        }
    }
}
