import type { ImageParts } from './image-parts.ts'

/** An image whose file has been cleaned. */
export type CleanImage = {
  contentType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  extension: 'jpg' | 'png' | 'gif' | 'webp'
  /** In pixels, as viewers show the image. */
  width: number
  height: number
  /** 1 for an image that does not move. */
  frames: number
  /** The cleaned file. */
  parts: ImageParts
}
