! A local variable with an initialiser is static: all calls share it.
! expect: race on work, lines 7 and 7
integer function doubled(value)
  implicit none
  integer, intent(in) :: value
  integer :: work = 0
  work = work + value; doubled = work
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
