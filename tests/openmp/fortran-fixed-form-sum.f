! In fixed form, with a line that goes on: a sum without a reduction.
! expect: race on total, lines 11 and 11
      PROGRAM FIXED
      INTEGER I
      REAL A(100), TOTAL
      TOTAL = 0
C$OMP PARALLEL DO
      DO 10 I = 1, 100
        A(I) = REAL(I) *
     &    2
        TOTAL = TOTAL + A(I)
   10 CONTINUE
      IF (TOTAL .LT. 0) STOP 1
      END
