! A scalar that each iteration uses for itself is shared.
! expect: race on t, lines 11 and 11
program swap
  implicit none
  real :: x(100), y(100), t
  integer :: i
  x = 1
  y = 2
  !$omp parallel do
  do i = 1, 100
    t = x(i); x(i) = y(i); y(i) = t
  end do
  if (x(1) + y(1) > 4) stop 1
end program
