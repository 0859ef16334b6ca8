! Each thread allocates an array of its own.
! expect: no race
program allocating
  use omp_lib
  implicit none
  real, allocatable, save :: work(:)
  integer :: ready
  ready = 0
  !$omp parallel num_threads(2) reduction(+:ready) private(work)
    allocate(work(100))
    if (allocated(work)) ready = ready + 1
  !$omp end parallel
  if (ready > 2) stop 1
end program
