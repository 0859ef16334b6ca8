! Iterations append to a list in their order.
! expect: no race
program append
  implicit none
  integer :: list(100), length, i
  length = 0
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 100
    !$omp ordered
    length = length + 1
    list(i) = length
    !$omp end ordered
  end do
  if (list(1) < 1) stop 1
end program
