//! The type that a line which allocates says it allocates: `new Node`, `malloc(sizeof(struct node))`, `malloc(n * sizeof *p)`,
//! `(node *)malloc(n)`, `node *p = malloc(n)`, `std::make_unique<Node[]>(n)`; and the one that the C++ library's allocator is of.
//!
//! A line is text, and text can be misread: whoever asks compares the type's size with the block's.

/// What a line, or a function's name, hints at: what a block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What it holds.
    pub what: Spelling,
    /// How many bytes come before that.
    pub before: u64,
    /// Whether something else comes behind it.
    pub and_more: bool,
}

impl From<Spelling> for Hint {
    fn from(what: Spelling) -> Hint {
        Hint {
            what,
            before: 0,
            and_more: false,
        }
    }
}

/// A type, as it is spelt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// A type, without namespaces: `Node`, `Box<int>`, `unsigned long`.
    Type(String),
    /// What a variable of this name points to.
    PointedBy(String),
    /// Pointers.
    Pointer,
    /// Elements of an array of Fortran's, by its name: with the first and the last number in each dimension, where the line has
    /// numbers.
    ElementsOf(String, Vec<(Option<i64>, Option<i64>)>),
}

/// What the library keeps in front of a value that it allocates together with something of its own.
const HEADERS: [(&str, u64); 5] = [
    ("std::_Sp_counted_ptr_inplace<", 16),
    ("std::_List_node<", 16),
    ("std::_Fwd_list_node<", 8),
    ("std::_Rb_tree_node<", 32),
    ("std::__detail::_Hash_node<", 8),
];

/// What an allocator of the C++ library allocates, by the name of its function.
pub fn of_allocator(function: &str) -> Option<Hint> {
    let after = ["std::__new_allocator<", "new_allocator<", "std::allocator<"]
        .into_iter()
        .find_map(|name| function.split_once(name))?
        .1;
    let value = first_argument(after);
    let header = HEADERS.iter().find_map(|(name, size)| {
        let inside = value.strip_prefix(name)?;
        Some((first_argument(inside), *size))
    });
    let (value, before) = header.unwrap_or((value, 0));
    Some(Hint {
        before,
        ..spelling(value)?.into()
    })
}

/// The first of a template's arguments, whose list begins here.
fn first_argument(list: &str) -> &str {
    let mut depth = 0;
    let end = list.char_indices().find(|(_, c)| {
        depth += matches!(c, '<' | '(') as i32;
        let ends = depth == 0 && matches!(c, ',' | '>');
        depth -= matches!(c, '>' | ')') as i32;
        ends
    });
    list[..end.map_or(list.len(), |(at, _)| at)].trim()
}

/// What a piece of a line says, what says it best first.
pub fn of_line(line: &str) -> Vec<Hint> {
    let words = |word: &'static str| {
        line.match_indices(word).filter_map(move |(at, _)| {
            let before = line[..at].chars().next_back();
            let after = &line[at + word.len()..];
            let is_word = !before.is_some_and(is_name) && !after.starts_with(is_name);
            is_word.then_some((at, after))
        })
    };
    let mut found: Vec<Option<Spelling>> = Vec::new();
    let sizes = words("sizeof").filter_map(|(at, after)| {
        let (what, after) = of_sizeof(after.trim_start())?;
        let is_sum = line[..at].trim_end().ends_with('+') || after.trim_start().starts_with('+');
        Some(Hint {
            and_more: is_sum,
            ..what.into()
        })
    });
    let mut all: Vec<Hint> = sizes.collect();
    found.extend(words("new").map(|(_, after)| {
        let after = after.trim_start();
        // Where to put it, or what not to throw.
        let ty = match after.strip_prefix('(') {
            Some(inner) => inner.split_once(')')?.1,
            None => after,
        };
        spelling(leading_type(ty))
    }));
    for name in ["make_shared", "make_unique", "make_unique_for_overwrite"] {
        found.extend(words(name).map(|(_, after)| {
            let value = first_argument(after.trim_start().strip_prefix('<')?);
            spelling(value.strip_suffix("[]").unwrap_or(value))
        }));
    }
    for name in ["malloc", "calloc", "realloc", "aligned_alloc"] {
        found.extend(words(name).map(|(at, _)| of_context(line[..at].trim_end())));
    }
    all.extend(found.into_iter().flatten().map(Hint::from));
    all
}

/// The same for a line of Fortran: `allocate(grid(0:n, 20), work(n))`.
pub fn of_fortran_line(line: &str) -> Vec<Hint> {
    let line = line.to_ascii_lowercase();
    let Some((_, objects)) = line.split_once("allocate") else {
        return Vec::new();
    };
    let Some(objects) = objects.trim_start().strip_prefix('(') else {
        return Vec::new();
    };
    let objects = split_outside(objects, ')').next().unwrap_or_default();
    let found = split_outside(objects, ',').filter_map(|object| {
        let name = object.split('(').next()?.trim();
        let bounds = bounds(object, name)?;
        let is_variable = !name.is_empty() && name.chars().all(is_name);
        is_variable.then(|| Spelling::ElementsOf(name.to_string(), bounds).into())
    });
    found.collect()
}

/// The first and the last number of each dimension that a text of Fortran gives something of this name, where it has numbers.
pub fn bounds(text: &str, name: &str) -> Option<Vec<(Option<i64>, Option<i64>)>> {
    let list = text.match_indices(name).find_map(|(at, _)| {
        let is_part = text[..at].chars().next_back().is_some_and(is_name);
        let list = text[at + name.len()..].trim_start().strip_prefix('(')?;
        (!is_part).then_some(list)
    })?;
    let list = split_outside(list, ')').next()?;
    let bounds = split_outside(list, ',').map(|bound| {
        let number = |text: &str| text.trim().parse().ok();
        match bound.split_once(':') {
            Some((first, last)) => (number(first), number(last)),
            None => (Some(1), number(bound)),
        }
    });
    Some(bounds.collect())
}

/// The parts of a text between characters that are in no parentheses.
fn split_outside(text: &str, at: char) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        let is_outside = depth == 0;
        depth += (c == '(') as i32 - (c == ')') as i32;
        is_outside && c == at
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `(struct node)`, `(*p)`, `*p`; and what comes behind it.
fn of_sizeof(text: &str) -> Option<(Spelling, &str)> {
    let (operand, after) = match text.strip_prefix('(') {
        Some(inner) => {
            let mut depth = 1;
            let end = inner.find(|c| {
                depth += (c == '(') as i32 - (c == ')') as i32;
                depth == 0
            })?;
            (inner[..end].trim(), &inner[end + 1..])
        }
        None => {
            let end = text.find([',', ')', ';', '+']).unwrap_or(text.len());
            (text[..end].trim(), &text[end..])
        }
    };
    let pointer = match operand.strip_prefix('*') {
        Some(pointer) => pointer.trim(),
        None => match operand.split_once('[') {
            Some((pointer, _)) => pointer.trim(),
            None => return Some((spelling(operand)?, after)),
        },
    };
    // `p->items` is no variable of its own.
    let is_variable = !pointer.is_empty() && pointer.chars().all(is_name);
    is_variable.then(|| (Spelling::PointedBy(pointer.to_string()), after))
}

/// What stands before a call of `malloc`: a cast, or the declaration of a pointer.
fn of_context(before: &str) -> Option<Spelling> {
    if let Some(cast) = before.strip_suffix(')') {
        let (_, ty) = cast.rsplit_once('(')?;
        return spelling(ty.trim().strip_suffix('*')?);
    }
    let declared = before.strip_suffix('=')?.trim_end();
    let name = declared.rfind(|c| !is_name(c))?;
    let ty = declared[..=name].trim_end().strip_suffix('*')?;
    let start = ty.rfind(['(', ';', '{', ',', '}']).map_or(0, |at| at + 1);
    spelling(&ty[start..])
}

/// The type that a text begins with.
fn leading_type(text: &str) -> &str {
    let text = text.trim_start();
    let mut depth = 0;
    let end = text.char_indices().find(|(at, c)| {
        depth += (*c == '<') as i32;
        let is_inside = depth > 0 || is_name(*c) || matches!(c, ':' | '*');
        depth -= (*c == '>') as i32;
        // `unsigned long`, `struct node`: words of types that have several; `node *`.
        let is_between = *c == ' '
            && (WORDS.iter().any(|word| last_word(&text[..*at]) == *word)
                || text[*at..].trim_start().starts_with('*'));
        !is_inside && !is_between
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Words that another word of the type follows.
const WORDS: [&str; 10] = [
    "struct", "class", "union", "enum", "const", "volatile", "unsigned", "signed", "long", "short",
];

fn last_word(text: &str) -> &str {
    text.rsplit(|c| !is_name(c)).next().unwrap_or_default()
}

/// A type as it is known by: without qualifiers, namespaces and needless blanks.
fn spelling(text: &str) -> Option<Spelling> {
    let text = text.trim();
    if text.ends_with('*') {
        return Some(Spelling::Pointer);
    }
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ')
        && matches!(
            word,
            "struct" | "class" | "union" | "enum" | "const" | "volatile" | "static" | "typename"
        )
    {
        rest = after.trim_start();
    }
    let rest = rest.strip_suffix(" const").unwrap_or(rest);
    let end = rest.find('<').unwrap_or(rest.len());
    let start = rest[..end].rfind("::").map_or(0, |at| at + 2);
    let name = rest[start..].trim();
    let is_type = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !name.contains(['(', ')', '"', '=', ';']);
    is_type.then(|| Spelling::Type(name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> Spelling {
        Spelling::Type(name.to_string())
    }

    #[test]
    fn a_line_says_what_it_allocates() {
        let pointed = |name: &str| Spelling::PointedBy(name.to_string());
        for (line, expected) in [
            ("auto n = new Node{1, nullptr};", vec![ty("Node")]),
            (
                "Node *n = new (std::nothrow) app::Node(2);",
                vec![ty("Node")],
            ),
            ("p = new unsigned long[4];", vec![ty("unsigned long")]),
            (
                "p = new Box<std::pair<int, int>>();",
                vec![ty("Box<std::pair<int, int>>")],
            ),
            ("p = new Node*[8];", vec![Spelling::Pointer]),
            ("p = new Node *[8];", vec![Spelling::Pointer]),
            ("renewed = old;", vec![]),
            ("n = malloc(sizeof(struct node));", vec![ty("node")]),
            ("n = malloc(sizeof *n);", vec![pointed("n")]),
            ("n = calloc(4, sizeof(*n));", vec![pointed("n")]),
            ("n = calloc(4, sizeof n[0]);", vec![pointed("n")]),
            ("q->items = malloc(8 * sizeof *q->items);", vec![]),
            ("n = malloc(sizeof *n * 3);", vec![]),
            ("n = malloc(sizeof(node_t *) * 3);", vec![Spelling::Pointer]),
            ("struct node *n = malloc(size);", vec![ty("node")]),
            (
                "for (int i = 0; i < 3; i++) { double *d = malloc(80); }",
                vec![ty("double")],
            ),
            ("n = (node_t *)malloc(size);", vec![ty("node_t")]),
            ("n = (node_t *) calloc(1, size);", vec![ty("node_t")]),
            ("n = malloc(size);", vec![]),
            ("auto p = std::make_unique<Node[]>(3);", vec![ty("Node")]),
            ("auto p = std::make_shared<app::Node>(3);", vec![ty("Node")]),
        ] {
            let expected: Vec<Hint> = expected.into_iter().map(Hint::from).collect();
            assert_eq!(of_line(line), expected, "{line}");
        }
        for line in [
            "n = malloc(sizeof(struct node) + size);",
            "n = malloc(size + sizeof(struct node));",
        ] {
            let [hint] = &of_line(line)[..] else {
                panic!("{line}");
            };
            assert_eq!((&hint.what, hint.and_more), (&ty("node"), true), "{line}");
        }
    }

    #[test]
    fn a_line_of_fortran_says_which_arrays() {
        let elements = |name: &str, bounds: &[(Option<i64>, Option<i64>)]| -> Hint {
            Spelling::ElementsOf(name.to_string(), bounds.to_vec()).into()
        };
        for (line, expected) in [
            (
                "  ALLOCATE(Grid(0:n, 20), work(f(n, m)), stat=ierr)",
                vec![
                    elements("grid", &[(Some(0), None), (Some(1), Some(20))]),
                    elements("work", &[(Some(1), None)]),
                ],
            ),
            (
                "allocate (a(-3:3))",
                vec![elements("a", &[(Some(-3), Some(3))])],
            ),
            ("allocate(p%data(10))", vec![]),
            ("allocate(scalar)", vec![]),
            ("allocated = .true.", vec![]),
        ] {
            assert_eq!(of_fortran_line(line), expected, "{line}");
        }
    }

    #[test]
    fn an_allocator_of_the_library_says_what_of() {
        for (function, expected) in [
            (
                "std::__new_allocator<int>::allocate(unsigned long, void const*)",
                Some((ty("int"), 0)),
            ),
            (
                "__gnu_cxx::new_allocator<app::Node>::allocate(unsigned long)",
                Some((ty("Node"), 0)),
            ),
            (
                "std::__new_allocator<std::_Sp_counted_ptr_inplace<app::Node, std::allocator<void>, (__gnu_cxx::_Lock_policy)2> >::allocate",
                Some((ty("Node"), 16)),
            ),
            (
                "std::__new_allocator<std::_List_node<Node> >::allocate",
                Some((ty("Node"), 16)),
            ),
            (
                "std::__new_allocator<Node*>::allocate",
                Some((Spelling::Pointer, 0)),
            ),
            ("operator new(unsigned long)", None),
        ] {
            let found = of_allocator(function).map(|hint| (hint.what, hint.before));
            assert_eq!(found, expected, "{function}");
        }
    }
}
