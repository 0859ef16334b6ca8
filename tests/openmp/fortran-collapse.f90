! Two loops are shared out as one; each iteration has its own element.
! expect: no race
! options: -O0
program two_loops
  implicit none
  integer, allocatable :: b(:, :)
  integer :: i, j
  allocate(b(0:21, 21))
  b = 0
  !$omp parallel do collapse(2)
  do j = 1, 21
    do i = 1, 21
      b(i, j) = b(i, j) + 1
    end do
  end do
  if (b(0, 1) /= 0) stop 1
  deallocate(b)
end program
