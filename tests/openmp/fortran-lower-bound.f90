! The first element has the number that the declaration says.
! expect: race on a(-5), lines 9 and 11
program bounds
  implicit none
  integer, save :: a(-5:5)
  a = 0
  !$omp parallel sections
  !$omp section
  a(-5) = 1
  !$omp section
  a(-5) = 2
  !$omp end parallel sections
  if (sum(a) > 3) stop 1
end program
