! The teams of two regions in a region add to one variable.
! expect: race on total, lines 12 and 12
! environment: OMP_MAX_ACTIVE_LEVELS=2
program nested
  implicit none
  integer :: total, i, j
  total = 0
  !$omp parallel do num_threads(2)
  do i = 1, 2
    !$omp parallel do num_threads(2)
    do j = 1, 10
      total = total + j
    end do
  end do
  if (total > 110) stop 1
end program
