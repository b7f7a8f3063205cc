/**
 * A text put together from very many pieces. As strings are joined, each piece takes many times its
 * characters in memory until somebody reads the whole: here that is done block by block.
 */
export type TextBuilder = {
  add(piece: string): void
  isEmpty(): boolean
  /** All that was added. */
  text(): string
}

const BLOCK_LENGTH = 65_536

export function createTextBuilder(): TextBuilder {
  const blocks: string[] = []
  let open = ''
  return {
    add(piece) {
      open += piece
      if (open.length < BLOCK_LENGTH) return
      // Counting its octets makes one string of it.
      Buffer.byteLength(open)
      blocks.push(open)
      open = ''
    },
    isEmpty: () => open === '' && blocks.length === 0,
    text: () => (blocks.length === 0 ? open : blocks.join('') + open),
  }
}
