! Procedures hand each other a value in a common block that each thread has of its own.
! expect: no race
subroutine put(value)
  implicit none
  integer, intent(in) :: value
  integer :: held
  common /hand/ held
  !$omp threadprivate(/hand/)
  held = value
end subroutine

integer function took()
  implicit none
  integer :: held
  common /hand/ held
  !$omp threadprivate(/hand/)
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
