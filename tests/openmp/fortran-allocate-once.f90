! Whether an array is allocated is asked while another thread allocates it.
! expect: race on work, lines 11 and 13
program allocating
  use omp_lib
  implicit none
  real, allocatable, save :: work(:)
  integer :: ready
  ready = 0
  !$omp parallel num_threads(2) reduction(+:ready)
  if (omp_get_thread_num() == 0) then
    allocate(work(100))
  else
    if (allocated(work)) ready = ready + 1
  end if
  !$omp end parallel
  if (ready > 2) stop 1
end program
