! Two sections write elements of different numbers.
! expect: no race
program bounds
  implicit none
  integer, save :: a(-5:5)
  a = 0
  !$omp parallel sections
  !$omp section
  a(-5) = 1
  !$omp section
  a(-4) = 2
  !$omp end parallel sections
  if (sum(a) > 3) stop 1
end program
