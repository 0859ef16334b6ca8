! A counter is raised by all threads.
! expect: race on n, lines 9 and 9
program counting
  implicit none
  integer :: n, i
  n = 0
  !$omp parallel do
  do i = 1, 100
    n = n + 1
  end do
  if (n > 100) stop 1
end program
