! Two procedures that nest take one lock twice.
! expect: no race
module guarded
  use omp_lib
  implicit none
  integer(omp_nest_lock_kind) :: first, second
  integer :: n = 0
contains
  subroutine inner()
    call omp_set_nest_lock(first)
    n = n + 1
    call omp_unset_nest_lock(first)
  end subroutine
  subroutine outer()
    call omp_set_nest_lock(first)
    n = n + 1
    call inner()
    call omp_unset_nest_lock(first)
  end subroutine
end module

program nest_locks
  use guarded
  implicit none
  call omp_init_nest_lock(first)
  call omp_init_nest_lock(second)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    call inner()
  else
    call outer()
  end if
  !$omp end parallel
  if (n > 4) stop 1
end program
