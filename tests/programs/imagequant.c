// Chooses 64 colours for a picture and remaps it, in parallel loops of OpenMP.
//   imagequant [SIDE]
#include <libimagequant.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  const int side = count > 1 ? atoi(arguments[1]) : 160;
  unsigned char *picture = malloc(side * side * 4), *out = malloc(side * side);
  unsigned seed = 1;
  for (int i = 0; i < side * side * 4; i++) {
    seed = seed * 1103515245 + 12345;
    picture[i] = (seed >> 16) ^ (i / 7);
  }
  liq_attr *attributes = liq_attr_create();
  liq_set_max_colors(attributes, 64);
  liq_image *image = liq_image_create_rgba(attributes, picture, side, side, 0);
  liq_result *result;
  if (liq_image_quantize(image, attributes, &result) != LIQ_OK) {
    return 1;
  }
  liq_set_dithering_level(result, 1);
  liq_write_remapped_image(result, image, out, side * side);
  const liq_palette *palette = liq_get_palette(result);
  int outside = 0;
  for (int i = 0; i < side * side; i++) {
    outside += out[i] >= palette->count;
  }
  printf("%u colours, %d pixels of none of them\n", palette->count, outside);
}
