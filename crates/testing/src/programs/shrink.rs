//! Makes a program that shows a fault small.
//!
//! The simple model: list every program that is one cut smaller; take the first that is still sound
//! and still shows the fault; start over, until none does. Each cut takes something away or puts
//! something simpler in its place, so this ends. The list is never built: a cut is named by its
//! number, and after a success the search goes on from that number, not from the first.

use deadheat_lang::syntax::ast::*;

/// The smallest program that single cuts of `program` lead to while `still_fails` says yes.
///
/// It is asked only about programs that are accepted when read. The cuts are tried in a fixed order,
/// so the result depends on nothing but the program and the answers. The spans of the result are
/// meaningless; print it and read it again where they matter.
///
/// ```
/// use deadheat_testing::programs::shrink;
/// use deadheat_lang::syntax::parse;
///
/// let program = parse("shared x; shared y; proc main() { if y < 2 { async { x = y + 5; } } }")?;
/// let stores = |program: &str| program.contains("x = ");
/// let smallest = shrink(&program, |candidate| stores(&candidate.to_string()));
/// assert_eq!(smallest.to_string(), "shared x;\n\nproc main() {\n  x = 0;\n}\n");
/// # Ok::<(), deadheat_lang::Diagnostics>(())
/// ```
pub fn shrink(program: &Program, mut still_fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let mut shrunk = false;
        let mut number = 0;
        while let Some(candidate) = cut(&smallest, number) {
            if is_valid(&candidate) && still_fails(&candidate) {
                smallest = candidate;
                shrunk = true;
            } else {
                number += 1;
            }
        }
        if !shrunk {
            return smallest;
        }
    }
}

fn is_valid(program: &Program) -> bool {
    deadheat_lang::Program::parse(&program.to_string()).is_ok()
}

/// The program after its cut of this number, if it has so many.
fn cut(program: &Program, number: usize) -> Option<Program> {
    let mut program = program.clone();
    let mut knife = Knife {
        before: number,
        used: false,
    };
    knife.program(&mut program);
    knife.used.then_some(program)
}

/// Walks through a program and makes one of the cuts it comes by.
struct Knife {
    /// How many cuts to pass by before.
    before: usize,
    used: bool,
}

impl Knife {
    /// Whether to make the cut that is possible here.
    fn cuts(&mut self) -> bool {
        if self.used {
            return false;
        }
        self.used = self.before == 0;
        self.before = self.before.saturating_sub(1);
        self.used
    }

    fn program(&mut self, program: &mut Program) {
        for position in 0..program.items.len() {
            if self.cuts() {
                program.items.remove(position);
                return;
            }
        }
        for position in 0..program.items.len() {
            self.procedure(program, position);
            if self.used {
                return;
            }
        }
        for item in &mut program.items {
            match item {
                Item::Procedure { body, .. } => self.block(body),
                Item::Shared { initial, .. } | Item::Semaphore { initial, .. } => {
                    if initial.is_some() && self.cuts() {
                        *initial = None;
                    }
                }
                Item::Promise(_) | Item::Lock(_) | Item::Event(_) => {}
            }
        }
    }

    /// Takes away a parameter with its arguments, or puts the body where it is called.
    fn procedure(&mut self, program: &mut Program, position: usize) {
        let Item::Procedure {
            name,
            parameters,
            body,
        } = &mut program.items[position]
        else {
            return;
        };
        let called = name.text.clone();
        let body = body.clone();
        for parameter in 0..parameters.len() {
            if self.cuts() {
                parameters.remove(parameter);
                each_statement(program, &mut |statement| match &mut statement.kind {
                    StatementKind::Call(name, arguments)
                    | StatementKind::AsyncCall(name, arguments)
                        if name.text == called && parameter < arguments.len() =>
                    {
                        arguments.remove(parameter);
                    }
                    _ => {}
                });
                return;
            }
        }
        if parameters.is_empty() && called != "main" && self.cuts() {
            program.items.remove(position);
            each_statement(program, &mut |statement| match &statement.kind {
                StatementKind::AsyncCall(name, _) if name.text == called => {
                    statement.kind = StatementKind::Async(body.clone());
                }
                // There are no bare blocks; the branch is spliced by a later cut.
                StatementKind::Call(name, _) if name.text == called => {
                    statement.kind = StatementKind::If {
                        branches: vec![(Expr::new(ExprKind::Int(1)), body.clone())],
                        otherwise: None,
                    };
                }
                _ => {}
            });
        }
    }

    fn block(&mut self, block: &mut Block) {
        for position in 0..block.statements.len() {
            if self.cuts() {
                block.statements.remove(position);
                return;
            }
        }
        for position in 0..block.statements.len() {
            for body in blocks_mut(&mut block.statements[position]) {
                if self.cuts() {
                    let body = std::mem::take(&mut body.statements);
                    block.statements.splice(position..=position, body);
                    return;
                }
            }
            self.statement(&mut block.statements[position]);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        match &mut statement.kind {
            StatementKind::If {
                branches,
                otherwise,
            } => {
                if otherwise.is_some() && self.cuts() {
                    *otherwise = None;
                }
                for position in 0..branches.len() {
                    if branches.len() > 1 && self.cuts() {
                        branches.remove(position);
                        return;
                    }
                }
                for (condition, _) in branches {
                    self.expression(condition);
                }
            }
            StatementKind::AsyncCall(name, arguments) => {
                if self.cuts() {
                    let arguments = std::mem::take(arguments);
                    statement.kind = StatementKind::Call(name.clone(), arguments);
                    return;
                }
                arguments.iter_mut().for_each(|a| self.expression(a));
            }
            StatementKind::Call(_, arguments) => {
                arguments.iter_mut().for_each(|a| self.expression(a));
            }
            StatementKind::Let(_, Init::Expr(value)) => self.expression(value),
            StatementKind::Store(place, value) => {
                self.place(place);
                self.expression(value);
            }
            StatementKind::While(condition, _) | StatementKind::Assert(condition) => {
                self.expression(condition);
            }
            StatementKind::For(_, from, to, _) => {
                self.expression(from);
                self.expression(to);
            }
            _ => {}
        }
        for body in blocks_mut(statement) {
            self.block(body);
        }
    }

    fn expression(&mut self, expr: &mut Expr) {
        let mut simpler = Vec::new();
        match &expr.kind {
            ExprKind::Int(0) => {}
            ExprKind::Int(1) => simpler.push(ExprKind::Int(0)),
            ExprKind::Int(_) | ExprKind::Place(_) => {
                simpler.extend([ExprKind::Int(0), ExprKind::Int(1)]);
            }
            ExprKind::Unary(_, operand) => {
                simpler.extend([ExprKind::Int(0), ExprKind::Int(1), operand.kind.clone()]);
            }
            ExprKind::Binary(_, left, right) => simpler.extend([
                ExprKind::Int(0),
                ExprKind::Int(1),
                left.kind.clone(),
                right.kind.clone(),
            ]),
        }
        for kind in simpler {
            if self.cuts() {
                expr.kind = kind;
                return;
            }
        }
        match &mut expr.kind {
            ExprKind::Int(_) => {}
            ExprKind::Place(place) => self.place(place),
            ExprKind::Unary(_, operand) => self.expression(operand),
            ExprKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
        }
    }

    fn place(&mut self, place: &mut Place) {
        if let Place::Element(_, index) = place {
            self.expression(index);
        }
    }
}

/// Calls `f` on every statement of a program, those inside others first.
fn each_statement(program: &mut Program, f: &mut impl FnMut(&mut Statement)) {
    fn inside(block: &mut Block, f: &mut impl FnMut(&mut Statement)) {
        for statement in &mut block.statements {
            for body in blocks_mut(statement) {
                inside(body, f);
            }
            f(statement);
        }
    }
    for item in &mut program.items {
        if let Item::Procedure { body, .. } = item {
            inside(body, f);
        }
    }
}

/// The blocks in a statement.
fn blocks_mut(statement: &mut Statement) -> Vec<&mut Block> {
    use StatementKind::*;
    match &mut statement.kind {
        If {
            branches,
            otherwise,
        } => {
            let branches = branches.iter_mut().map(|(_, block)| block);
            branches.chain(otherwise).collect()
        }
        While(_, block) | For(_, _, _, block) | Fork(_, block) => vec![block],
        Async(block) | Finish(block) | Isolated(block) => vec![block],
        Let(_, Init::Future(block)) => vec![block],
        _ => Vec::new(),
    }
}
