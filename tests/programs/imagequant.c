// Chooses 64 colours for a picture and remaps it, in parallel loops of OpenMP.
#include <libimagequant.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { SIDE = 160 };
  unsigned char *picture = malloc(SIDE * SIDE * 4), *out = malloc(SIDE * SIDE);
  unsigned seed = 1;
  for (int i = 0; i < SIDE * SIDE * 4; i++) {
    seed = seed * 1103515245 + 12345;
    picture[i] = (seed >> 16) ^ (i / 7);
  }
  liq_attr *attributes = liq_attr_create();
  liq_set_max_colors(attributes, 64);
  liq_image *image = liq_image_create_rgba(attributes, picture, SIDE, SIDE, 0);
  liq_result *result;
  if (liq_image_quantize(image, attributes, &result) != LIQ_OK) {
    return 1;
  }
  liq_set_dithering_level(result, 1);
  liq_write_remapped_image(result, image, out, SIDE * SIDE);
  const liq_palette *palette = liq_get_palette(result);
  int outside = 0;
  for (int i = 0; i < SIDE * SIDE; i++) {
    outside += out[i] >= palette->count;
  }
  printf("%u colours, %d pixels of none of them\n", palette->count, outside);
}
