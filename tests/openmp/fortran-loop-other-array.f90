! Each iteration reads an array that nobody writes.
! expect: no race
! options: -O0
program loop_next
  implicit none
  integer :: a(1000), b(1000), i
  a = 1
  b = 1
  !$omp parallel do
  do i = 2, 1000
    a(i) = b(i - 1) + 1
  end do
  if (a(1) + b(1) /= 2) stop 1
end program
