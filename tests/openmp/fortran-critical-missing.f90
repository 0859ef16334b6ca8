! A critical section holds one of two updates.
! expect: race on n, lines 11 and 14
program two_updates
  use omp_lib
  implicit none
  integer :: n
  n = 0
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    !$omp critical
    n = n + 1
    !$omp end critical
  else
    n = n + 2
  end if
  !$omp end parallel
  if (n < 0) stop 1
end program
