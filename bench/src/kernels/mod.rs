//! The programs that are measured. None of them has a race.

pub mod joins;
pub mod matrices;
pub mod tasks;

#[cfg(test)]
mod tests {
    use deadheat_model::Execution;
    use deadheat_offline::replay::{drdp, spd3};
    use deadheat_offline::threads::validate;
    use deadheat_offline::{esp_bags, graph};
    use deadheat_online::drdp::Checker;
    use deadheat_online::spd3::Worker;

    use super::{joins, matrices, tasks};
    use crate::recording::{Recording, accesses};

    /// What every kernel must be, with and without its accesses: well-formed and free of races.
    fn check(kernel: impl Fn(&mut Recording)) -> Execution {
        let bare = Recording::without_accesses(&kernel);
        let execution = Recording::of(&kernel);
        assert!(accesses(&bare) < accesses(&execution));
        for execution in [&bare, &execution] {
            validate(execution).unwrap();
            assert_eq!(graph::check(execution).races, []);
            let account = drdp::account(execution, Checker::default()).unwrap();
            assert!(account.racy.is_empty());
        }
        execution
    }

    /// The same for those that `async` and `finish` alone order.
    fn check_structured(kernel: impl Fn(&mut Recording)) {
        let execution = check(kernel);
        assert!(esp_bags::racy_locations(&execution).is_empty());
        let (racy, _) = spd3::racy_locations(&execution, Worker::default()).unwrap();
        assert!(racy.is_empty());
    }

    #[test]
    fn kernels_of_tasks_are_well_formed_and_free_of_races() {
        check_structured(|r| tasks::flat(r, 20, 3, 3));
        check_structured(|r| tasks::nest(r, 20, 3, false));
        check_structured(|r| tasks::nest(r, 20, 3, true));
        check_structured(|r| tasks::divide(r, 5));
        check_structured(|r| tasks::readers(r, 20, 3));
        check_structured(|r| tasks::sweep_own(r, 3, 10, 4));
        check_structured(|r| tasks::sweep_in_new_steps(r, 10, 4));
        check_structured(|r| tasks::sweep_shared(r, 3, 10));
        check_structured(|r| tasks::sweep_in_turn(r, 4, 10));
    }

    #[test]
    fn kernels_of_joins_are_well_formed_and_free_of_races() {
        check(|r| joins::pipeline(r, 4, 10));
        check(|r| joins::chain(r, 30, 3));
        check(|r| joins::gather(r, 10, true));
    }

    #[test]
    fn kernels_of_matrices_are_well_formed_and_free_of_races() {
        check_structured(|r| matrices::matmul(r, 8, 4, false));
        check_structured(|r| matrices::matmul(r, 8, 4, true));
        check(|r| matrices::strassen(r, 8, 2));
        check(|r| matrices::sparselu(r, 6, 2));
        check(|r| matrices::poisson(r, 3, 3, 3));
    }
}
