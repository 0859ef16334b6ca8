! A local variable without initialiser is each call's own.
! expect: no race
integer function doubled(value)
  implicit none
  integer, intent(in) :: value
  integer :: work
  work = 2 * value; doubled = work
end function

program double_all
  implicit none
  integer :: i, out(100)
  integer, external :: doubled
  !$omp parallel do
  do i = 1, 100
    out(i) = doubled(i)
  end do
  if (out(1) < 0) stop 1
end program
