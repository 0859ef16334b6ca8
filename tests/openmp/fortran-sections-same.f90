! Two sections write one variable.
! expect: race on left, lines 10 and 12
program two_sections
  implicit none
  integer, save :: left, right
  left = 0
  right = 0
  !$omp parallel sections
  !$omp section
  left = 1
  !$omp section
  left = 2
  !$omp end parallel sections
  if (left + right > 3) stop 1
end program
