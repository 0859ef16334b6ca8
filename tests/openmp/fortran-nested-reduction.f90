! The teams of two regions in a region add up for themselves.
! expect: no race
! environment: OMP_MAX_ACTIVE_LEVELS=2
program nested
  implicit none
  integer :: total, i, j
  total = 0
  !$omp parallel do num_threads(2) reduction(+:total)
  do i = 1, 2
    !$omp parallel do num_threads(2) reduction(+:total)
    do j = 1, 10
      total = total + j
    end do
  end do
  if (total > 110) stop 1
end program
