/**
 * Limits concurrent exports. An export lasts as long as its client reads, so only few run at a time,
 * and at most one of them writes in each turn of the event loop: their number does not delay other
 * work.
 */
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../base/errors.ts'
import { createKeyPlaces } from '../../../turns/key-places.ts'

export type ExportSlots = {
  /** Takes a slot and returns its release function. @throws AppError RATE_LIMIT_EXCEEDED */
  take(projectId: string): () => void
  /** Resolves for one caller per turn of the event loop, in the order of the calls. */
  nextTurn(): Promise<void>
}

type ExportLimits = { perProject: number; all: number }

const EXPORT_LIMITS: ExportLimits = { perProject: 2, all: 8 }
const RETRY_AFTER_SECONDS = 10

export function createExportSlots({ perProject, all }: ExportLimits = EXPORT_LIMITS): ExportSlots {
  const places = createKeyPlaces({ perKey: perProject, all })
  let last: Promise<unknown> = Promise.resolve()

  return {
    take(projectId) {
      if (places.isKeyFull(projectId)) throw full('This project has', perProject)
      if (places.isFull()) throw full('The server has', all)
      return places.take(projectId)
    },
    nextTurn() {
      const mine = last.then(() => setImmediate())
      last = mine
      return mine
    },
  }
}

/**
 * Opens an export and returns its pieces. It holds its slot until it has been read to the end or
 * `return` was called.
 * @throws AppError RATE_LIMIT_EXCEEDED without a free slot, before anything else
 */
export async function whileExporting(
  slots: ExportSlots,
  projectId: string,
  open: () => Promise<AsyncGenerator<Uint8Array>>,
): Promise<AsyncIterable<Uint8Array>> {
  const release = slots.take(projectId)
  try {
    return releasing(await open(), release)
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Yields the same pieces, and calls `release` after the last one or when the reader stops early.
 */
function releasing(
  pieces: AsyncGenerator<Uint8Array>,
  release: () => void,
): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const next = await pieces.next()
        if (next.done) release()
        return next
      } catch (error) {
        release()
        throw error
      }
    },
    // Resolves when the running scan has ended; until then the export holds its slot.
    return: () => pieces.return(undefined).finally(release),
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

function full(whose: string, limit: number): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', `${whose} ${limit} exports open already.`, {
    details: { limit, retryAfter: RETRY_AFTER_SECONDS },
  })
}
