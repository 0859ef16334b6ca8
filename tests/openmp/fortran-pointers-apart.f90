! Two pointers have no element in common.
! expect: no race
program two_pointers
  implicit none
  integer, target, save :: a(100)
  integer, pointer :: low(:), high(:)
  a = 0
  low => a(1:50)
  high => a(51:100)
  !$omp parallel sections
  !$omp section
  low(50) = 1
  !$omp section
  high(1) = 2
  !$omp end parallel sections
  if (sum(a) > 3) stop 1
end program
