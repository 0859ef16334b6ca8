! A procedure keeps its last argument in a common block that all threads share.
! expect: race on *, lines 8 and 8
subroutine put(value)
  implicit none
  integer, intent(in) :: value
  integer :: held
  common /hand/ held
  held = value
end subroutine

program hand_over
  implicit none
  integer :: i, held
  common /hand/ held
  !$omp parallel do
  do i = 1, 100
    call put(i)
  end do
  if (held < 0) stop 1
end program
