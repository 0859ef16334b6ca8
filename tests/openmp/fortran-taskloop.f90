! The tasks of a loop read what nobody writes.
! expect: no race
! compiler: gfortran
! threads: 1 2 4 16
program loop_of_tasks
  implicit none
  integer, save :: a(100), b(100)
  integer :: i
  a = 1
  b = 1
  !$omp parallel
  !$omp single
  !$omp taskloop grainsize(1)
  do i = 2, 100
    a(i) = b(i - 1)
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  if (a(2) /= b(2)) stop 1
end program
