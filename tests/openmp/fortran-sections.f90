! Two sections write one variable each.
! expect: no race
program two_sections
  implicit none
  integer, save :: left, right
  left = 0
  right = 0
  !$omp parallel sections
  !$omp section
  left = 1
  !$omp section
  right = 2
  !$omp end parallel sections
  if (left + right > 3) stop 1
end program
