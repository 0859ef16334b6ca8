! Each iteration reads the element before its own, which at the end of a part is another thread's.
! expect: race on a, lines 11 and 11
! options: -O0
program loop_next
  implicit none
  integer :: a(1000), b(1000), i
  a = 1
  b = 1
  !$omp parallel do
  do i = 2, 1000
    a(i) = a(i - 1) + 1
  end do
  if (a(1) + b(1) /= 2) stop 1
end program
