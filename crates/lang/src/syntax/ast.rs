//! The shape of a `.tp` program as written.

/// A piece of the source text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// Where it ends, exclusive.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end,
        }
    }
}

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// A name that stands nowhere, for programs that are made rather than read.
    pub fn new(text: impl Into<String>) -> Name {
        Name {
            text: text.into(),
            span: Span::default(),
        }
    }
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Declarations and procedures, in the order written.
    pub items: Vec<Item>,
}

/// A declaration or a procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// `shared x = 1;` or `shared a[10] = 1;`
    Shared {
        /// The variable.
        name: Name,
        /// The number of elements, for an array.
        length: Option<i64>,
        /// What each holds at the start, if given.
        initial: Option<i64>,
    },
    /// `promise p;`
    Promise(Name),
    /// `lock l;`
    Lock(Name),
    /// `sem s = 1;`
    Semaphore {
        /// The semaphore.
        name: Name,
        /// Its tokens at the start, if given.
        initial: Option<i64>,
    },
    /// `event e;`
    Event(Name),
    /// `proc p(a, b) { … }`
    Procedure {
        /// The procedure.
        name: Name,
        /// Its parameters.
        parameters: Vec<Name>,
        /// What it does.
        body: Block,
    },
}

/// Statements between braces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// From the opening to the closing brace.
    pub span: Span,
}

/// A statement and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands: the part that is underlined when something is said about it.
    pub span: Span,
}

impl Statement {
    /// The blocks in it.
    pub fn blocks(&self) -> Vec<&Block> {
        use StatementKind::*;
        match &self.kind {
            If {
                branches,
                otherwise,
            } => branches.iter().map(|(_, b)| b).chain(otherwise).collect(),
            While(_, block) | For(_, _, _, block) | Fork(_, block) => vec![block],
            Async(block) | Finish(block) | Isolated(block) => vec![block],
            Let(_, Init::Future(block)) => vec![block],
            _ => Vec::new(),
        }
    }
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `let x = init;`
    Let(Name, Init),
    /// `place = e;`
    Store(Place, Expr),
    /// `if e { … } else if e { … } else { … }`
    If {
        /// Conditions and what they guard, in order.
        branches: Vec<(Expr, Block)>,
        /// The last `else`.
        otherwise: Option<Block>,
    },
    /// `while e { … }`
    While(Expr, Block),
    /// `for i in from .. to { … }`
    For(Name, Expr, Expr, Block),
    /// `async { … }`
    Async(Block),
    /// `async p(…);`
    AsyncCall(Name, Vec<Expr>),
    /// `finish { … }`
    Finish(Block),
    /// `isolated { … }`
    Isolated(Block),
    /// `p.set;` and the other operations on a named object.
    Operation(Operation, Name),
    /// `fork t { … }`
    Fork(Name, Block),
    /// `call p(…);`
    Call(Name, Vec<Expr>),
    /// `assert e;`
    Assert(Expr),
    /// `skip;`
    Skip,
    /// `return;`
    Return,
}

/// An operation on one named synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `p.set`
    Set,
    /// `p.get`
    Get,
    /// `acquire l`
    Acquire,
    /// `release l`
    Release,
    /// `s.p`
    P,
    /// `s.v`
    V,
    /// `e.post`
    Post,
    /// `e.wait`
    Wait,
    /// `e.clear`
    Clear,
    /// `join t`
    Join,
}

/// What a `let` binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// A value.
    Expr(Expr),
    /// A fresh shared cell.
    Alloc,
    /// A fresh promise.
    Promise,
    /// The handle of a task that is started here.
    Future(Block),
}

/// What can be stored to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// `x`
    Name(Name),
    /// `a[e]`
    Element(Name, Box<Expr>),
    /// `*r`
    Deref(Name),
}

/// An expression and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// An expression that stands nowhere, for programs that are made rather than read.
    pub fn new(kind: ExprKind) -> Expr {
        Expr {
            kind,
            span: Span::default(),
        }
    }
}

/// What an expression computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A number.
    Int(i64),
    /// A name, an element or a cell's content.
    Place(Place),
    /// `!e` or `-e`
    Unary(UnaryOperator, Box<Expr>),
    /// `e + e` and so on.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
}

/// An operator before one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    /// `!`: 1 if the operand is 0, otherwise 0.
    Not,
    /// `-`
    Negate,
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOperator {
    /// Every one.
    pub const ALL: [BinaryOperator; 13] = [
        BinaryOperator::Or,
        BinaryOperator::And,
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Less,
        BinaryOperator::LessEqual,
        BinaryOperator::Greater,
        BinaryOperator::GreaterEqual,
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Multiply,
        BinaryOperator::Divide,
        BinaryOperator::Remainder,
    ];

    /// How tightly it binds: C's precedence, higher binds tighter.
    pub fn precedence(self) -> u8 {
        use BinaryOperator::*;
        match self {
            Or => 1,
            And => 2,
            Equal | NotEqual => 3,
            Less | LessEqual | Greater | GreaterEqual => 4,
            Add | Subtract => 5,
            Multiply | Divide | Remainder => 6,
        }
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        use BinaryOperator::*;
        match self {
            Or => "||",
            And => "&&",
            Equal => "==",
            NotEqual => "!=",
            Less => "<",
            LessEqual => "<=",
            Greater => ">",
            GreaterEqual => ">=",
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Remainder => "%",
        }
    }
}
