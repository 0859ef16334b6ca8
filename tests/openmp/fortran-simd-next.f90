! A loop of threads and lanes reads across the border of a part.
! expect: race on a, lines 11 and 11
program lanes
  implicit none
  real :: a(0:1024), b(0:1024)
  integer :: i
  a = 1
  b = 2
  !$omp parallel do simd
  do i = 1, 1024
    a(i) = a(i - 1) * 0.5
  end do
  if (a(0) > b(0)) stop 1
end program
