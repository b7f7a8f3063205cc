/**
 * Builds a text from very many pieces. A concatenated string takes many times the memory of its
 * characters until it is flattened, so this builder flattens it block by block.
 */
export type TextBuilder = {
  add(piece: string): void
  isEmpty(): boolean
  /** All added pieces as one text. */
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
      // `byteLength` is called because it flattens the string.
      Buffer.byteLength(open)
      blocks.push(open)
      open = ''
    },
    isEmpty: () => open === '' && blocks.length === 0,
    text: () => (blocks.length === 0 ? open : blocks.join('') + open),
  }
}
