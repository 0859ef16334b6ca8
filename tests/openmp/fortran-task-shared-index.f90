! Tasks read an index that their creator changes.
! expect: race on at, lines 15 and 13
! compiler: gfortran
! threads: 1 2 4 16
program indices
  implicit none
  integer, save :: at(1), out(20)
  integer :: j
  out = 0
  !$omp parallel
  !$omp single
  do j = 1, 20
    at(1) = j
    !$omp task shared(at) shared(out) firstprivate(j)
    out(j) = at(1)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  if (sum(out) > 400) stop 1
end program
