/**
 * The line in which logins and new passwords wait for argon2, which computes one password at a time
 * (`passwords/passwords.ts`). A request that finds the line full is refused at once, at little
 * cost, so a flood of logins slows down neither other requests nor those in the line. A network has
 * two places, so that no network fills the line. Some places are kept for browsers that know the
 * user (`device.ts`), so that users can log in beside a crowd of networks.
 */
import { AppError } from '../../../../base/errors.ts'
import { createKeyPlaces } from '../../../../turns/key-places.ts'

/** Who asks for a place. */
export type Placed = {
  /** The name of the client's network: IPv4 /24, IPv6 /48. */
  wideNetwork: string
  /** Whether the browser knows the user. */
  isKnown: boolean
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

export type LoginQueue = {
  /**
   * Runs `check` in a place of the line. The place is free again when `check` settles or the client is
   * gone.
   * @throws AppError EXTERNAL_SERVICE_ERROR when there is no place
   */
  run<T>(check: () => Promise<T>, placed: Placed): Promise<T>
}

const PLACES = 50
const PLACES_OF_KNOWN = 10
const PLACES_OF_NETWORK = 2
/** When a refused request may try again: a full line takes about this long. */
const RETRY_AFTER_SECONDS = 2

export function createLoginQueue(): LoginQueue {
  const places = createKeyPlaces({ perKey: PLACES_OF_NETWORK, all: PLACES })

  function enter({ wideNetwork, isKnown }: Placed): () => void {
    const isFull = places.isFull(isKnown ? 0 : PLACES_OF_KNOWN)
    if (isFull || places.isKeyFull(wideNetwork)) throw full()
    return places.take(wideNetwork)
  }

  return {
    async run(check, placed) {
      const { signal } = placed
      signal.throwIfAborted()
      const leave = enter(placed)
      signal.addEventListener('abort', leave)
      try {
        return await check()
      } finally {
        signal.removeEventListener('abort', leave)
        leave()
      }
    },
  }
}

function full(): AppError {
  return new AppError(
    'EXTERNAL_SERVICE_ERROR',
    'Too many passwords wait to be checked at the moment.',
    {
      details: { retryAfter: RETRY_AFTER_SECONDS },
      isOverload: true,
    },
  )
}
