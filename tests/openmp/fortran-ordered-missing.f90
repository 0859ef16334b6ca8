! Iterations append to a list, each when it comes to it.
! expect: race on length, lines 9 and 9
program append
  implicit none
  integer :: list(100), length, i
  length = 0
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 100
    length = length + 1
    list(i) = length
  end do
  if (list(1) < 1) stop 1
end program
