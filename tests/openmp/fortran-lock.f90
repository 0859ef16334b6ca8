! Both threads take the lock.
! expect: no race
program locking
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer :: x
  x = 0
  call omp_init_lock(lock)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    call omp_set_lock(lock)
    x = x + 1
    call omp_unset_lock(lock)
  else
    call omp_set_lock(lock)
    x = x + 2
    call omp_unset_lock(lock)
  end if
  !$omp end parallel
  call omp_destroy_lock(lock)
  if (x > 3) stop 1
end program
