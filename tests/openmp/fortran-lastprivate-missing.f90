! What the last iteration computes is written by every iteration.
! expect: race on last, lines 10 and 10
! options: -O0
program last_value
  implicit none
  integer :: last, i
  last = 0
  !$omp parallel do
  do i = 1, 100
    last = 3 * i
  end do
  if (last < 3) stop 1
end program
