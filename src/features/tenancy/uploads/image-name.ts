/** The names of images: 32 hexadecimal digits and an extension. */

const NAME = /^[0-9a-f]{32}\.(?:jpg|png|gif|webp)$/

export function isImageName(text: string): boolean {
  return NAME.test(text)
}
