! Columns are shared out, and each element reads its neighbour in the column before.
! expect: race on grid, lines 11 and 11
program sweep
  implicit none
  real, save :: grid(8, 0:64)
  integer :: i, j
  grid = 1
  !$omp parallel do private(i)
  do j = 1, 64
    do i = 1, 8
      grid(i, j) = grid(i, j - 1) + 1
    end do
  end do
  if (grid(1, 0) > 1) stop 1
end program
