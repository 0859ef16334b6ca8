! Procedures hand each other a value in a common block that all threads share.
! expect: race on *, lines 10 and 10
! expect: race on *, lines 10 and 17
! options: -O0
subroutine put(value)
  implicit none
  integer, intent(in) :: value
  integer :: held
  common /hand/ held
  held = value
end subroutine

integer function took()
  implicit none
  integer :: held
  common /hand/ held
  took = held
end function

program hand_over
  implicit none
  integer :: i, out(100)
  integer, external :: took
  !$omp parallel do
  do i = 1, 100
    call put(i)
    out(i) = took()
  end do
  if (out(1) < 0) stop 1
end program
