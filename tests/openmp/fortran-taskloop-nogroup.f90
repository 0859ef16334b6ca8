! Nobody waits for the tasks of a loop.
! expect: race on a, lines 15 and 18
! compiler: gfortran
! threads: 1 2 4 16
program wait_for_loop
  implicit none
  integer, save :: a(100)
  integer :: i, seen
  a = 0
  seen = 0
  !$omp parallel
  !$omp single
  !$omp taskloop num_tasks(10) nogroup
  do i = 1, 100
    a(i) = i
  end do
  !$omp end taskloop
  seen = a(50)
  !$omp end single
  !$omp end parallel
  if (seen > 50) stop 1
end program
