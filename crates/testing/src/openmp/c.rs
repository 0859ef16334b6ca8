//! A random program as C.

use std::fmt::Write;

use super::{Access, Dependence, Program, Statement, VARIABLES};

impl Program {
    /// A function `pN` that runs it, with its variables `vN_0`, `vN_1`, ….
    pub fn c(&self, number: usize) -> String {
        let mut writer = Writer {
            text: String::new(),
            number,
        };
        for variable in 0..VARIABLES {
            writer.line(0, &format!("static volatile int v{number}_{variable};"));
        }
        writer.line(0, &format!("static int d{number}[3];"));
        writer.line(0, &format!("static void p{number}(void) {{"));
        for region in &self.regions {
            writer.line(1, "#pragma omp parallel");
            writer.block(1, region);
        }
        writer.line(0, "}");
        writer.text
    }
}

/// A whole file of programs, and a `main` that runs one after the other.
pub fn file(programs: &[Program]) -> String {
    let mut text = String::from("#include <omp.h>\n");
    for (number, program) in programs.iter().enumerate() {
        text += &program.c(number);
    }
    text += "int main(void) {\n";
    for number in 0..programs.len() {
        let _ = writeln!(text, "  p{number}();");
    }
    text + "  return 0;\n}\n"
}

struct Writer {
    text: String,
    number: usize,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(depth));
    }

    fn block(&mut self, depth: usize, body: &[Statement]) {
        self.line(depth, "{");
        self.line(depth + 1, "int r = 0;");
        for statement in body {
            self.statement(depth + 1, statement);
        }
        self.line(depth + 1, "(void)r;");
        self.line(depth, "}");
    }

    fn statement(&mut self, depth: usize, statement: &Statement) {
        match statement {
            Statement::Access(access) => self.access(depth, access),
            Statement::Critical(name, accesses) => {
                self.line(depth, &format!("#pragma omp critical(c{name})"));
                self.line(depth, "{");
                accesses
                    .iter()
                    .for_each(|access| self.access(depth + 1, access));
                self.line(depth, "}");
            }
            Statement::Task {
                undeferred,
                is_final,
                depends,
                body,
            } => {
                let mut pragma = String::from("#pragma omp task default(shared)");
                if *undeferred {
                    pragma += " if(0)";
                }
                if *is_final {
                    pragma += " final(1)";
                }
                self.line(depth, &(pragma + &self.depend(depends)));
                self.block(depth, body);
            }
            Statement::Taskwait(depends) => {
                let depends = self.depend(depends);
                self.line(depth, &format!("#pragma omp taskwait{depends}"));
            }
            Statement::Taskgroup(body) => {
                self.line(depth, "#pragma omp taskgroup");
                self.block(depth, body);
            }
            Statement::Barrier => self.line(depth, "#pragma omp barrier"),
            Statement::Single { nowait, body } => {
                self.line(
                    depth,
                    &format!("#pragma omp single{}", nowait_clause(*nowait)),
                );
                self.block(depth, body);
            }
            Statement::Masked(body) => {
                self.line(depth, "#pragma omp masked");
                self.block(depth, body);
            }
            Statement::For {
                dynamic,
                nowait,
                count,
                accesses,
            } => {
                let schedule = if *dynamic { "dynamic, 1" } else { "static" };
                self.line(
                    depth,
                    &format!(
                        "#pragma omp for schedule({schedule}){}",
                        nowait_clause(*nowait)
                    ),
                );
                self.line(depth, &format!("for (int i = 0; i < {count}; i++) {{"));
                for (iteration, access) in accesses {
                    self.line(depth + 1, &format!("if (i == {iteration})"));
                    self.line(depth + 1, "{");
                    self.access(depth + 2, access);
                    self.line(depth + 1, "}");
                }
                self.line(depth, "}");
            }
            Statement::Sections { nowait, bodies } => {
                self.line(
                    depth,
                    &format!("#pragma omp sections{}", nowait_clause(*nowait)),
                );
                self.line(depth, "{");
                for body in bodies {
                    self.line(depth + 1, "#pragma omp section");
                    self.block(depth + 1, body);
                }
                self.line(depth, "}");
            }
        }
    }

    fn depend(&self, depends: &[(usize, Dependence)]) -> String {
        depends
            .iter()
            .map(|(address, kind)| {
                let kind = match kind {
                    Dependence::In => "in",
                    Dependence::Out => "out",
                    Dependence::InOut => "inout",
                    Dependence::MutexInOutSet => "mutexinoutset",
                    Dependence::InOutSet => "inoutset",
                };
                format!(" depend({kind}: d{}[{address}])", self.number)
            })
            .collect()
    }

    fn access(&mut self, depth: usize, access: &Access) {
        let variable = format!("v{}_{}", self.number, access.variable);
        match (access.atomic, access.write) {
            (false, true) => self.line(depth, &format!("{variable} = 1;")),
            (false, false) => self.line(depth, &format!("r += {variable};")),
            (true, true) => {
                self.line(depth, "#pragma omp atomic");
                self.line(depth, &format!("{variable} += 1;"));
            }
            (true, false) => {
                self.line(depth, "{ int t;");
                self.line(depth, "#pragma omp atomic read");
                self.line(depth, &format!("t = {variable}; r += t; }}"));
            }
        }
    }
}

fn nowait_clause(nowait: bool) -> &'static str {
    if nowait { " nowait" } else { "" }
}
