! Rows are shared out, and each element reads its neighbour in the same row.
! expect: no race
program sweep
  implicit none
  real, save :: grid(8, 0:64)
  integer :: i, j
  grid = 1
  !$omp parallel do private(j)
  do i = 1, 8
    do j = 1, 64
      grid(i, j) = grid(i, j - 1) + 1
    end do
  end do
  if (grid(1, 0) > 1) stop 1
end program
