/** Writes rows of an export in pieces, so that no piece takes long or is large. */
import type { ExportSlots } from '../export-slots.ts'

/** Milliseconds of writing in one turn of the event loop. */
const TURN_MS = 5
/** Characters after which a piece ends early: with many keys, each contact has many commas. */
const PIECE_CHARS = 1024 * 1024

/** Yields the rows of the items; each piece takes a turn of the slots. */
export async function* writePieces<T>(
  slots: Pick<ExportSlots, 'nextTurn'>,
  items: Iterable<T>,
  write: (item: T) => string,
): AsyncGenerator<Uint8Array> {
  let text = ''
  let endsAt = 0
  for (const item of items) {
    if (text === '') {
      await slots.nextTurn()
      endsAt = performance.now() + TURN_MS
    }
    text += write(item)
    if (performance.now() < endsAt && text.length < PIECE_CHARS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
