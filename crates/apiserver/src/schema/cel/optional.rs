//! Optional field selection, `self.?name`, made into optional indexing, `self[?'name']`.
//!
//! The two mean the same, and the interpreter carries out the second as the language says,
//! while the first fails in it on a field that is absent. A plain selection that follows an
//! optional one is optional too, so it is rewritten with it.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::operators::{OPT_INDEX, OPT_SELECT};
use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue};

/// Rewrites every optional selection in an expression.
pub(super) fn rewrite(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| rewrite(target));
            call.args.iter_mut().for_each(rewrite);
            if call.func_name == OPT_SELECT {
                call.func_name = OPT_INDEX.to_string();
            }
        }
        Expr::Comprehension(comprehension) => {
            for part in [
                &mut comprehension.iter_range,
                &mut comprehension.accu_init,
                &mut comprehension.loop_cond,
                &mut comprehension.loop_step,
                &mut comprehension.result,
            ] {
                rewrite(part);
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(rewrite),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        rewrite(&mut entry.key);
                        rewrite(&mut entry.value);
                    }
                    EntryExpr::StructField(field) => rewrite(&mut field.value),
                }
            }
        }
        Expr::Select(select) => {
            rewrite(&mut select.operand);
            if !select.test && is_optional(&select.operand) {
                let field = LiteralValue::String(select.field.as_str().into());
                let operand = std::mem::take(select.operand.as_mut());
                expression.expr = Expr::Call(CallExpr {
                    func_name: OPT_INDEX.to_string(),
                    target: None,
                    args: vec![
                        operand,
                        IdedExpr {
                            id: 0,
                            expr: Expr::Literal(field),
                        },
                    ],
                });
            }
        }
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
}

fn is_optional(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Call(call) if call.func_name == OPT_INDEX)
}
