! A counter is raised atomically by all threads.
! expect: no race
program counting
  implicit none
  integer :: n, i
  n = 0
  !$omp parallel do
  do i = 1, 100
    !$omp atomic update
    n = n + 1
  end do
  if (n > 100) stop 1
end program
