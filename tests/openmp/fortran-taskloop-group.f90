! The tasks of a loop have ended when it is left.
! expect: no race
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
  !$omp taskloop num_tasks(10)
  do i = 1, 100
    a(i) = i
  end do
  !$omp end taskloop
  seen = a(50)
  !$omp end single
  !$omp end parallel
  if (seen > 50) stop 1
end program
